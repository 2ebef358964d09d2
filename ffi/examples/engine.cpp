/* The ledger's part of an engine in C++: workers that serve requests of their own from one pool, find each other's
 * system prompt, fork an answer into samples, and one thread that plays the device and completes steps late. Nothing is
 * locked but the queue of steps.
 *
 *   ffi/archive.sh
 *   c++ -std=c++17 -pthread -I ffi/include ffi/examples/engine.cpp target/capi/dist/libkvledger.a -o engine
 */
#include <kvledger.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

namespace {

constexpr std::uint32_t kBlock = 16, kSystem = 8 * kBlock, kQuestion = 40, kPrompt = kSystem + kQuestion;
constexpr std::uint32_t kAnswer = 30, kSamples = 3, kWorkers = 2, kRequests = 400, kNames = kPrompt / kBlock;

/* Steps on their way, each worker's in a stream of its own. */
class Device {
 public:
  explicit Device(const kvledger::Pool &pool) : pool_(pool), thread_([this] { run(); }) {}
  ~Device() {
    push({0, 0});
    thread_.join();
  }

  /* After the rows were read and the kernels launched, in an engine that has kernels. */
  std::uint64_t submit(std::uint32_t stream) {
    auto epoch = pool_.submit(stream);
    while (epoch.status() == KVL_FULL) { /* as many in flight as the pool was made for */
      std::this_thread::yield();
      epoch = pool_.submit(stream);
    }
    REQUIRE(epoch);
    return *epoch;
  }
  void launched(std::uint32_t stream, std::uint64_t epoch) { push({stream, epoch}); }

 private:
  struct Step {
    std::uint32_t stream;
    std::uint64_t epoch;
  };

  void push(Step step) {
    const std::lock_guard<std::mutex> lock(mutex_);
    steps_.push_back(step);
    arrived_.notify_one();
  }

  void run() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      arrived_.wait(lock, [this] { return !steps_.empty(); });
      const Step step = steps_.front();
      steps_.pop_front();
      lock.unlock();
      if (step.epoch == 0) return;
      REQUIRE(pool_.complete(step.stream, step.epoch));
    }
  }

  const kvledger::Pool &pool_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Step> steps_;
  std::thread thread_;
};

struct Totals {
  std::atomic<std::uint64_t> cached{0}, computed{0}, waits{0}, copies{0};
};

/* The names of a prompt that begins as everybody's and ends as nobody else's. */
void name(const kvl_identity_key &key, std::uint32_t request, kvl_identity (&names)[kNames]) {
  std::vector<std::uint32_t> tokens(kPrompt);
  for (std::uint32_t i = 0; i < kPrompt; ++i) tokens[i] = i < kSystem ? i : (request << 8) + i;
  const auto domain = KVL_SIZED(kvl_domain);
  kvl_identity root;
  std::size_t blocks;
  REQUIRE(kvl_identity_key_root(&key, &domain, &root, nullptr) == KVL_OK);
  REQUIRE(kvl_identity_key_chain(&key, &root, tokens.data(), tokens.size(), kBlock, names, kNames, &blocks, nullptr) ==
          KVL_OK);
}

/* One token of one sample. A shared block is copied before it is written: the order says from where to where. */
void generate(Device &device, kvledger::Sequence &sample, std::uint32_t stream, Totals &totals) {
  auto advanced = sample.advance(1);
  while (advanced.status() == KVL_BUSY || advanced.status() == KVL_RETRY_AFTER) advanced = sample.advance(1);
  REQUIRE(advanced); /* promised */
  const auto epoch = device.submit(stream);
  if (advanced->copies != 0) {
    auto order = sample.copy_order();
    REQUIRE(order && order->source != 0 && order->destination != 0 && order->slots < kBlock);
    REQUIRE(sample.copy_submitted(epoch));
    ++totals.copies;
  }
  device.launched(stream, epoch);
}

void serve(const kvledger::Pool &pool, Device &device, const kvl_identity_key &key, std::uint32_t worker,
           Totals &totals) {
  for (std::uint32_t request = worker; request < kRequests; request += kWorkers) {
    kvl_identity names[kNames];
    name(key, request, names);
    auto prefix = kvledger::prefix(names, kNames);
    const auto wanted = kvledger::admission(kPrompt, kAnswer);

    auto sequence = pool.open();
    REQUIRE(sequence);
    auto admitted = sequence->admit(wanted, prefix);
    while (admitted.status() == KVL_RETRY_AFTER || admitted.status() == KVL_WOULD_BLOCK) {
      ++totals.waits;
      std::this_thread::yield();
      admitted = sequence->admit(wanted, prefix);
    }
    REQUIRE(admitted);
    totals.cached += admitted->cached_tokens;
    totals.computed += kPrompt - admitted->cached_tokens;

    REQUIRE(sequence->advance(kPrompt - admitted->cached_tokens));
    const auto step = device.submit(worker);
    REQUIRE(sequence->publish(0, prefix, step));
    device.launched(worker, step);

    /* Samples of one answer: all blocks are shared, and each copies the last one when it writes. */
    std::vector<kvledger::Sequence> samples;
    std::vector<kvl_sequence> children;
    for (std::uint32_t i = 1; i < kSamples; ++i) {
      auto child = pool.open();
      REQUIRE(child);
      children.push_back(child->handle());
      samples.push_back(std::move(*child));
    }
    auto forked = sequence->fork(children.data(), children.size(), kAnswer);
    if (!forked) samples.clear(); /* no room for samples now: one answer, as promised */
    samples.push_back(std::move(*sequence));
    for (std::uint32_t token = 0; token < kAnswer; ++token)
      for (auto &sample : samples) generate(device, sample, worker, totals);
  } /* and all of them end here */
}

}  // namespace

int main() {
  auto config = kvledger::pool_config(96, kBlock, 16, 16);
  config.streams = kWorkers;
  config.cache = KVL_CACHE_S3_FIFO;
  auto pool = kvledger::Pool::create(config);
  REQUIRE(pool);
  kvl_identity_key key;
  REQUIRE(kvl_identity_key_new(1, 2, &key, nullptr) == KVL_OK); /* be random here */

  Totals totals;
  {
    Device device(*pool);
    std::vector<std::thread> workers;
    for (std::uint32_t i = 0; i < kWorkers; ++i)
      workers.emplace_back([&, i] { serve(*pool, device, key, i, totals); });
    for (auto &worker : workers) worker.join();
  }
  auto now = pool->snapshot();
  REQUIRE(now && now->held == 0 && now->promised == 0 && now->sequences == 0 && now->committed == 0);
  REQUIRE(pool->validate()->invariant == 0);
  REQUIRE(totals.cached + totals.computed == std::uint64_t{kRequests} * kPrompt);
  REQUIRE(totals.cached > 0 && totals.copies > 0);
  std::printf("%u requests, %llu of %llu prompt tokens found in the cache, %llu blocks copied\n", kRequests,
              static_cast<unsigned long long>(totals.cached), static_cast<unsigned long long>(kRequests) * kPrompt,
              static_cast<unsigned long long>(totals.copies));
}
