#include "live_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "http.hpp"
#include "yosida/error.hpp"
#include "yosida/report/contents.hpp"

namespace yosida::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long poll() waits, and the end of it all is not looked for.
constexpr milliseconds kMoment{50};
/// With 500 requests at once and some hundred silent clients there is still a place; 16 MB at most.
constexpr std::size_t kMostConnections = 1000;
constexpr std::size_t kMostHeadBytes = 16UL * 1024;
/// Files that are left to the study and the rest of the process where the system allows few.
constexpr rlim_t kOtherFiles = 32;

class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// One request, its reply, and the end.
class Connection {
 public:
  using Answer = std::function<HttpReply(const std::optional<HttpRequest>&)>;
  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  pollfd waits_for() const {
    const short events = phase_ == Phase::replies ? POLLOUT : POLLIN;
    return {.fd = socket_.descriptor(), .events = events, .revents = 0};
  }

  /// A client has so long for each phase, in all and not for each byte; nearly none where others wait for a
  /// place.
  bool is_late(Clock::time_point now, bool in_a_hurry) const {
    const milliseconds patience = phase_ == Phase::asks      ? milliseconds(5000)
                                  : phase_ == Phase::replies ? milliseconds(30'000)
                                                             : milliseconds(1000);
    return now - since_ > (in_a_hurry ? std::min(patience, milliseconds(500)) : patience);
  }

  /// Goes as far as it can without waiting. False where nothing is left to do, or nobody to do it for.
  bool advance(const Answer& answer) {
    if (phase_ == Phase::asks && !read_request(answer)) return false;
    if (phase_ == Phase::replies && !send_reply()) return false;
    return phase_ != Phase::leaves || read_rest();
  }

 private:
  enum class Phase { asks, replies, leaves };

  void begin(Phase phase) {
    phase_ = phase;
    since_ = Clock::now();
  }

  bool read_request(const Answer& answer) {
    while (true) {
      std::array<char, 4096> bytes;
      const ssize_t count = ::recv(socket_.descriptor(), bytes.data(), bytes.size(), 0);
      if (count < 0) return would_wait();
      if (count == 0) return false;
      constexpr std::string_view kEnd = "\r\n\r\n";
      const std::size_t known = request_.size() - std::min(request_.size(), kEnd.size() - 1);
      request_.append(bytes.data(), static_cast<std::size_t>(count));
      const std::size_t end = request_.find(kEnd, known);
      if (std::min(end, request_.size()) > kMostHeadBytes) {
        reply_with(http_refusal(431, "The head of this request is too long."), false);
        return true;
      }
      if (end != std::string::npos) {
        const auto request = parse_http_request(std::string_view(request_).substr(0, end));
        reply_with(answer(request), request && request->method == "HEAD");
        return true;
      }
    }
  }

  void reply_with(const HttpReply& reply, bool head_alone) {
    head_ = http_head(reply);
    if (!head_alone) text_ = reply.text;
    request_ = {};
    begin(Phase::replies);
  }

  bool send_reply() {
    const std::string_view text = text_ ? std::string_view(*text_) : std::string_view();
    const std::string_view head_rest = std::string_view(head_).substr(std::min(sent_, head_.size()));
    const std::string_view text_rest = text.substr(sent_ - std::min(sent_, head_.size()));
    // sendmsg() reads only; its type serves recvmsg() too.
    std::array<iovec, 2> parts{{{const_cast<char*>(head_rest.data()), head_rest.size()},
                                {const_cast<char*>(text_rest.data()), text_rest.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t count = ::sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL);
    if (count < 0) return would_wait();
    sent_ += static_cast<std::size_t>(count);
    if (sent_ < head_.size() + text.size()) return true;
    ::shutdown(socket_.descriptor(), SHUT_WR);
    text_.reset();
    begin(Phase::leaves);
    return true;
  }

  /// A socket that is closed while it holds something unread, such as the body of a request, takes back what
  /// the client has not read yet: the client closes first.
  bool read_rest() {
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(socket_.descriptor(), bytes.data(), bytes.size(), 0);
    return count > 0 || (count < 0 && would_wait());
  }

  Socket socket_;
  Phase phase_ = Phase::asks;
  Clock::time_point since_ = Clock::now();
  std::string request_;
  std::string head_;
  std::shared_ptr<const std::string> text_;
  std::size_t sent_ = 0;  // of head and text
};

/// The name in "name", "name:port", "[name]" or "[name]:port"; empty where the header is none of these.
std::string host_name(std::string_view header) {
  const bool has_brackets = header.starts_with('[');
  const std::size_t end = std::min(header.find(has_brackets ? ']' : ':'), header.size());
  const std::string_view name = header.substr(has_brackets ? 1 : 0, has_brackets ? end - 1 : end);
  std::string_view rest = header.substr(end);
  if (has_brackets) {
    if (rest.empty()) return "";
    rest.remove_prefix(1);
  }
  if (rest.empty()) return std::string(name);
  const bool is_port =
      rest.starts_with(':') && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_port ? std::string(name) : "";
}

/// The first address of the host that can be listened on. Throws InputError where there is none.
Socket listen_on(const std::string& host, int port) {
  const auto refusal = [&](const std::string& why) {
    return InputError(
        fmt::format("{}:{}: cannot be listened on: {}; choose another --port (0 takes a free one) or --host",
                    host, port, why));
  };
  addrinfo wanted{};
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); code != 0)
    throw refusal(gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  int error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Socket socket(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // A port whose last server has ended a moment ago is free, one that has a server is not.
    const int yes = 1;
    setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(socket.descriptor(), address->ai_addr, address->ai_addrlen) == 0 &&
        ::listen(socket.descriptor(), SOMAXCONN) == 0)
      return socket;
    error = errno;
  }
  throw refusal(std::generic_category().message(error));
}

int port_of(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
  // In the same place in addresses of either version.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

std::size_t most_connections() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t room = files.rlim_cur - std::min(files.rlim_cur, kOtherFiles);
  return std::clamp<rlim_t>(room, 1, kMostConnections);
}

}  // namespace

bool is_loopback(const std::string& host) {
  in_addr version_4{};
  if (inet_pton(AF_INET, host.c_str(), &version_4) == 1) return (ntohl(version_4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1";
}

struct LiveServer::Impl {
  explicit Impl(const Options& given)
      : options(given),
        page(std::make_shared<const std::string>(given.page)),
        listener(listen_on(given.host, given.port)) {}

  HttpReply answer(const std::optional<HttpRequest>& request) const;
  HttpReply answer_data(const HttpRequest& request) const;
  void turn();
  void accept_all();

  Options options;
  std::shared_ptr<const std::string> page;
  Socket listener;
  std::size_t most = most_connections();
  std::vector<Connection> connections;
  Clock::time_point accepts_again;  // after the system has refused another connection
  const Connection::Answer answers = [this](const auto& request) { return answer(request); };
  std::atomic<bool> stops = false;
  std::atomic<bool> has_ended = false;
};

HttpReply LiveServer::Impl::answer(const std::optional<HttpRequest>& request) const {
  if (!request) return http_refusal(400, "This is not a request of HTTP/1.1.");
  if (request->method != "GET" && request->method != "HEAD")
    return http_refusal(405, "This dashboard can only be read.");
  // A page of another site could reach a loopback address by a name of its own that leads there.
  if (!options.answers_any_name && !is_loopback(host_name(request->host)))
    return http_refusal(403, "This dashboard answers to its loopback address only.");
  if (request->path == "/") return {.type = "text/html; charset=utf-8", .text = page};
  if (request->path == "/data.json") return answer_data(*request);
  return http_refusal(404, "There is nothing here.");
}

HttpReply LiveServer::Impl::answer_data(const HttpRequest& request) const try {
  const LiveAnswer answer = options.data();
  if (request.known_tag == answer.tag) return {.status = 304, .text = nullptr, .tag = answer.tag};
  // As it is: to compress megabytes for a reader on the same machine would take longer than to send them.
  return {.type = "application/json", .text = answer.json, .tag = answer.tag};
} catch (const std::exception& error) {  // the page says so and asks again
  const std::string text = report::fault_json(error.what());
  return {.status = 503, .type = "application/json", .text = std::make_shared<const std::string>(text)};
}

/// Waits a moment for something to do, and does it.
void LiveServer::Impl::turn() {
  const bool is_full = connections.size() >= most || Clock::now() < accepts_again;
  std::vector<pollfd> polled;
  for (const Connection& connection : connections) polled.push_back(connection.waits_for());
  // poll() passes over what is negative: where there is no place, nobody is let in.
  polled.push_back({.fd = is_full ? -1 : listener.descriptor(), .events = POLLIN, .revents = 0});
  if (::poll(polled.data(), polled.size(), static_cast<int>(kMoment.count())) < 0) return;  // by a signal
  const Clock::time_point now = Clock::now();
  std::vector<Connection> kept;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const bool goes_on = polled[i].revents == 0 || connections[i].advance(answers);
    if (goes_on && !connections[i].is_late(now, is_full)) kept.push_back(std::move(connections[i]));
  }
  connections = std::move(kept);
  if (polled.back().revents != 0) accept_all();
}

void LiveServer::Impl::accept_all() {
  while (connections.size() < most) {
    Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.descriptor() >= 0) {
      connections.emplace_back(std::move(socket));
      if (!connections.back().advance(answers)) connections.pop_back();
    } else if (errno == ECONNABORTED) {
      continue;
    } else {
      // Nobody is left, or the system has no more files for this process: then it is tried again in a while.
      if (!would_wait()) accepts_again = Clock::now() + kMoment;
      return;
    }
  }
}

LiveServer::LiveServer(const Options& options) : impl_(std::make_shared<Impl>(options)) {}

LiveServer::~LiveServer() = default;

int LiveServer::port() const { return port_of(impl_->listener); }

bool LiveServer::serve_until(const std::function<bool()>& stop) {
  // What is shared with the thread may outlive this call: a study that another program holds is waited for.
  std::thread server([impl = impl_] {
    while (!impl->stops) impl->turn();
    impl->has_ended = true;
  });
  while (!stop()) std::this_thread::sleep_for(kMoment);
  impl_->stops = true;
  for (int moments = 0; moments < 20 && !impl_->has_ended; ++moments) std::this_thread::sleep_for(kMoment);
  if (!impl_->has_ended) {
    server.detach();
    return false;
  }
  server.join();
  return true;
}

}  // namespace yosida::cli
