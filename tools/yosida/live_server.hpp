#pragma once

#include <functional>
#include <memory>
#include <string>

// Nothing of the library may be included where its HTTP library is: a macro of the system's resolver, which
// that needs, breaks Eigen.

namespace yosida::cli {

bool is_loopback(const std::string& host);

/// What the page asks for again and again.
struct LiveAnswer {
  std::string tag;  // changes with the text
  std::shared_ptr<const std::string> json;
};

/// Serves one page and its data over HTTP, and nothing else.
class LiveServer {
 public:
  struct Options {
    std::string host;
    int port;                          // 0: a free one
    bool answers_any_name;             // else only to requests that name a loopback address
    std::string page;                  // HTML
    std::function<LiveAnswer()> data;  // called in any thread; what it throws becomes an answer of its own
  };
  /// Listens. Throws InputError where the port is taken or the address is none of this machine's.
  explicit LiveServer(const Options& options);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  int port() const;
  /// Answers until `stop` says so, which is asked many times a second. False where a client that will not
  /// finish is still being answered a second later: the process should then end without ceremony.
  bool serve_until(const std::function<bool()>& stop);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace yosida::cli
