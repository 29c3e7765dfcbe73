#include "live_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "yosida/error.hpp"

namespace yosida::cli {

using httplib::Request;
using httplib::Response;
using Handled = httplib::Server::HandlerResponse;

struct LiveServer::Impl {
  Options options;
  httplib::Server server;
  int port = 0;

  void limit_connections();
  void set_routes();
  void answer_data(const Request& request, Response& response) const;
  int listen();
};

bool is_loopback(const std::string& host) {
  in_addr version_4{};
  if (inet_pton(AF_INET, host.c_str(), &version_4) == 1) return (ntohl(version_4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1";
}

namespace {

/// The name in "name:port" or "[name]:port".
std::string host_name(const std::string& header) {
  if (header.starts_with('[')) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

}  // namespace

namespace {

/// As it is: to compress megabytes for a reader on the same machine would take longer than to send them.
void send(std::shared_ptr<const std::string> text, const char* type, Response& response) {
  const std::size_t size = text->size();
  response.set_content_provider(
      size, type, [text = std::move(text)](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        sink.write(text->data() + offset, length);
        return true;
      });
}

}  // namespace

void LiveServer::Impl::answer_data(const Request& request, Response& response) const try {
  const LiveAnswer answer = options.data();
  response.set_header("ETag", answer.tag);
  if (request.get_header_value("If-None-Match") == answer.tag) {
    response.status = 304;
  } else {
    send(answer.json, "application/json", response);
  }
} catch (const std::exception& error) {  // the page says so and asks again
  using nlohmann::json;
  response.status = 503;
  response.set_content(json{{"error", error.what()}}.dump(-1, ' ', false, json::error_handler_t::replace),
                       "application/json");
}

/// A thread is taken by a connection for as long as that lasts: none is kept after its answer, those that say
/// nothing are soon dropped, and there are enough for some of them.
void LiveServer::Impl::limit_connections() {
  constexpr std::size_t kThreads = 32;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(std::chrono::seconds(2));
}

void LiveServer::Impl::set_routes() {
  // A page of another site could reach a loopback address by a name of its own that leads there.
  server.set_pre_routing_handler([this](const Request& request, Response& response) {
    if (request.method != "GET" && request.method != "HEAD") {  // before a body is read
      response.status = 405;
      return Handled::Handled;
    }
    if (options.answers_any_name || is_loopback(host_name(request.get_header_value("Host"))))
      return Handled::Unhandled;
    response.status = 403;
    response.set_content("This dashboard answers to its loopback address only.\n", "text/plain");
    return Handled::Handled;
  });
  server.set_default_headers({{"Cache-Control", "no-cache"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"}});
  server.Get("/",
             [page = std::make_shared<const std::string>(options.page)](const Request&, Response& response) {
               send(page, "text/html; charset=utf-8", response);
             });
  server.Get("/data.json",
             [this](const Request& request, Response& response) { answer_data(request, response); });
}

int LiveServer::Impl::listen() {
  // Not the HTTP library's own choice, SO_REUSEPORT, by which two servers would share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  errno = 0;
  if (options.port == 0) {
    if (const int free = server.bind_to_any_port(options.host); free > 0) return free;
  } else if (server.bind_to_port(options.host, options.port)) {
    return options.port;
  }
  throw InputError(fmt::format(
      "{}:{}: cannot be listened on{}; choose another --port (0 takes a free one) or --host", options.host,
      options.port, errno == 0 ? std::string() : fmt::format(": {}", std::strerror(errno))));
}

LiveServer::LiveServer(const Options& options) : impl_(std::make_shared<Impl>()) {
  impl_->options = options;
  impl_->limit_connections();
  impl_->set_routes();
  impl_->port = impl_->listen();
}

LiveServer::~LiveServer() = default;

int LiveServer::port() const { return impl_->port; }

bool LiveServer::serve_until(const std::function<bool()>& stop) {
  // Shared with a thread that may outlive this call.
  const auto has_ended = std::make_shared<std::atomic<bool>>(false);
  std::thread listener([impl = impl_, has_ended] {
    impl->server.listen_after_bind();
    *has_ended = true;
  });
  constexpr auto kMoment = std::chrono::milliseconds(50);
  // A server that has not begun cannot be stopped.
  while (!*has_ended && !(stop() && impl_->server.is_running())) std::this_thread::sleep_for(kMoment);
  impl_->server.stop();
  for (int moments = 0; moments < 20 && !*has_ended; ++moments) std::this_thread::sleep_for(kMoment);
  if (!*has_ended) {
    listener.detach();
    return false;
  }
  listener.join();
  return true;
}

}  // namespace yosida::cli
