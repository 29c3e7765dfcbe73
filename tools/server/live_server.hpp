#pragma once

#include <functional>
#include <memory>
#include <string>

namespace yosida::cli {

bool is_loopback(const std::string& host);

/// What the page asks for again and again.
struct LiveAnswer {
  std::string tag;  // changes with the text
  std::shared_ptr<const std::string> json;
};

/// Serves one page and its data over HTTP, and nothing else. One thread has all connections and waits for
/// none of them, so that clients that say or read little, however many, keep nobody else waiting.
class LiveServer {
 public:
  struct Options {
    std::string host;
    int port;               // 0: a free one
    bool answers_any_name;  // else only to requests that name a loopback address
    std::string page;       // HTML
    std::function<LiveAnswer()>
        data;  // called in another thread; what it throws becomes an answer of its own
  };
  /// Listens. Throws InputError where the port is taken or the address is none of this machine's.
  explicit LiveServer(const Options& options);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  int port() const;
  /// Answers until `stop` says so, which is asked many times a second. False where `data` has not returned a
  /// second later: the process should then end without ceremony.
  bool serve_until(const std::function<bool()>& stop);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace yosida::cli
