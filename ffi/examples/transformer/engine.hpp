/* Continuous batching over the ledger: requests share what is cached of their prompts, fork into samples, grow one
 * block at a time, and are preempted and computed again when the pool is full.
 *
 * Admission promises the prompt only, and growth is admitted step by step: more requests run at once than could all
 * finish, and the youngest gives way when they do not fit. (An engine that must never preempt promises the whole
 * output: see serving_loop.c.) */
#ifndef TRANSFORMER_ENGINE_HPP
#define TRANSFORMER_ENGINE_HPP

#include "attention.hpp"

#include <kvledger.hpp>

#include <deque>
#include <map>
#include <utility>

namespace transformer {

/* What to generate: `samples` continuations, the first of the best tokens, the second begun with the second best. */
struct Request {
  std::vector<std::uint32_t> prompt;
  std::uint32_t output;
  std::uint32_t samples;
};

struct Counts {
  std::uint32_t steps = 0, hits = 0, forks = 0, copies = 0, preemptions = 0, most_running = 0;
};

class Engine {
 public:
  static constexpr std::uint32_t kBlocks = 36, kBlock = 8, kRunning = 8, kColumns = 32, kTokensMax = 1024;

  explicit Engine(const Model &model)
      : model_(model), attention_(kBlocks, kBlock, kRunning, kTokensMax, kColumns * kBlock) {
    auto config = kvledger::pool_config(kBlocks, kBlock, kRunning + 1, kColumns);
    config.cache = KVL_CACHE_LRU;
    auto pool = kvledger::Pool::create(config);
    REQUIRE(pool);
    pool_ = std::move(*pool);
    const auto domain = KVL_SIZED(kvl_domain);
    REQUIRE(kvl_identity_key_new(3, 4, &key_, nullptr) == KVL_OK);
    REQUIRE(kvl_identity_key_root(&key_, &domain, &root_, nullptr) == KVL_OK);
  }

  void add(std::uint32_t number, const Request &request) {
    waiting_.push_back({number, 0, request.samples, request.output, request.prompt, 0, {}});
  }

  /* Until everything is generated: the tokens of (request, sample). */
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> serve() {
    while (!waiting_.empty() || !running_.empty()) {
      admit();
      step();
      counts_.most_running = std::max(counts_.most_running, static_cast<std::uint32_t>(running_.size()));
    }
    REQUIRE(pool_.snapshot()->held == 0 && pool_.validate()->invariant == 0);
    return std::move(done_);
  }

  const Counts &counts() const { return counts_; }

 private:
  struct Work {
    std::uint32_t request, sample;
    std::uint32_t samples;                 /* still to be forked from this one */
    std::uint32_t left;                    /* tokens to generate */
    std::vector<std::uint32_t> tokens;     /* the prompt, and what is generated */
    std::uint32_t computed;                /* of these, keys and values are in blocks */
    kvledger::Sequence sequence;
  };

  kvl_prefix prefix_of(const std::vector<std::uint32_t> &tokens, std::vector<kvl_identity> &names) const {
    std::size_t blocks;
    names.resize(tokens.size() / kBlock);
    REQUIRE(kvl_identity_key_chain(&key_, &root_, tokens.data(), tokens.size(), kBlock, names.data(), names.size(),
                                   &blocks, nullptr) == KVL_OK);
    return kvledger::prefix(names.data(), names.size());
  }

  void admit() {
    while (!waiting_.empty() && running_.size() < kRunning) {
      Work &work = waiting_.front();
      if (!work.sequence) {
        auto sequence = pool_.open();
        if (sequence.status() == KVL_FULL) return;
        REQUIRE(sequence);
        work.sequence = std::move(*sequence);
      }
      std::vector<kvl_identity> names;
      const kvl_prefix prefix = prefix_of(work.tokens, names);
      const auto tokens = static_cast<std::uint32_t>(work.tokens.size());
      auto admission = kvledger::admission(tokens, work.left);
      admission.promise = KVL_PROMISE_BLOCKS;
      admission.promise_blocks = (tokens + kBlock - 1) / kBlock;
      /* Room for the sample that is to be forked from it, whose whole output is promised: all of it, and its copy. */
      admission.watermark = work.samples > 1 ? (work.left + kBlock - 1) / kBlock + 2 : 0;
      const auto admitted = work.sequence.admit(admission, prefix);
      if (!admitted) {
        REQUIRE(admitted.status() == KVL_WOULD_BLOCK || admitted.status() == KVL_RETRY_AFTER);
        REQUIRE(!running_.empty());
        return;
      }
      counts_.hits += admitted->hits;
      work.computed = admitted->cached_tokens;
      running_.push_back(std::move(work));
      waiting_.pop_front();
    }
  }

  /* The youngest gives way: what it had computed is computed again later, cached or not. Its handle goes too: the pool
   * has few. */
  void preempt_youngest() {
    Work work = std::move(running_.back());
    running_.pop_back();
    REQUIRE(work.sequence.end());
    work.computed = 0;
    waiting_.push_front(std::move(work));
    counts_.preemptions++;
  }

  /* Blocks for the tokens of this step, of the older ones first. False: it was preempted itself. */
  bool grow(std::size_t at) {
    for (;;) {
      Work &work = running_[at];
      const auto tokens = static_cast<std::uint32_t>(work.tokens.size()) - work.computed;
      const auto advanced = work.sequence.advance_growing(tokens, 0);
      if (advanced) return true;
      REQUIRE(advanced.status() == KVL_WOULD_BLOCK || advanced.status() == KVL_RETRY_AFTER);
      const bool itself = at + 1 == running_.size();
      preempt_youngest();
      if (itself) return false;
    }
  }

  void step() {
    for (std::size_t at = 0; at < running_.size() && grow(at); ++at) {}
    REQUIRE(!running_.empty());
    const auto epoch = pool_.submit(0);
    REQUIRE(epoch);
    Batch batch{{}, {}, {0}, {}, kColumns};
    std::vector<std::uint32_t> tokens, places;
    for (Work &work : running_) {
      const auto order = work.sequence.copy_order();
      REQUIRE(order);
      if (order->source != 0) {
        attention_.copy(*order);
        REQUIRE(work.sequence.copy_submitted(*epoch));
        counts_.copies++;
      }
      put(work, batch, tokens, places);
    }
    attention_.begin(batch);
    const auto logits = model_.run(tokens, places, [this](std::uint32_t layer, Heads &heads) { attention_.run(layer, heads); });
    for (Work &work : running_) publish(work, *epoch);
    attention_.finish();
    REQUIRE(pool_.complete(0, *epoch));
    counts_.steps++;
    continue_all(batch, logits);
  }

  /* The tokens of one sequence that this step computes, and its row as it is now. */
  void put(const Work &work, Batch &batch, std::vector<std::uint32_t> &tokens, std::vector<std::uint32_t> &places) {
    const auto row = work.sequence.row();
    REQUIRE(row && row->tokens == work.tokens.size());
    const std::uint32_t *const blocks = pool_.table() + std::size_t{row->row} * kColumns;
    batch.table.insert(batch.table.end(), blocks, blocks + kColumns);
    for (std::uint32_t place = work.computed; place < work.tokens.size(); ++place) {
      batch.slots.push_back({blocks[place / kBlock], place % kBlock});
      tokens.push_back(work.tokens[place]);
      places.push_back(place);
    }
    batch.lengths.push_back(row->tokens);
    batch.query_starts.push_back(static_cast<std::uint32_t>(tokens.size()));
  }

  void publish(Work &work, std::uint64_t epoch) {
    std::vector<kvl_identity> names;
    const kvl_prefix prefix = prefix_of(work.tokens, names);
    /* A block that is still shared to be written has a name already, or none that anybody looks for. */
    if (work.computed / kBlock < names.size()) REQUIRE(work.sequence.publish(0, prefix, epoch));
  }

  void continue_all(const Batch &batch, const std::vector<Vector> &logits) {
    std::vector<Work> next;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      Work &work = running_[i];
      const Vector &last = logits[batch.query_starts[i + 1] - 1];
      work.computed = static_cast<std::uint32_t>(work.tokens.size());
      if (work.samples > 1) fork(work, last);
      work.samples = 1;
      work.tokens.push_back(choose(last, false));
      if (--work.left == 0) {
        done_[{work.request, work.sample}] = std::move(work.tokens);
        REQUIRE(work.sequence.end());
      } else {
        next.push_back(std::move(work));
      }
    }
    for (Work &child : forked_) next.push_back(std::move(child));
    forked_.clear();
    running_ = std::move(next);
  }

  /* The second sample goes on from the same blocks, if there is room for all of it; else it is a request like others. */
  void fork(Work &parent, const Vector &logits) {
    Work child{parent.request, 1, 1, parent.left - 1, parent.tokens, parent.computed, {}};
    child.tokens.push_back(choose(logits, true));
    if (child.left == 0) {
      done_[{child.request, child.sample}] = std::move(child.tokens);
      return;
    }
    auto sequence = pool_.open();
    if (sequence && running_.size() + forked_.size() < kRunning) {
      const kvl_sequence handle = sequence->handle();
      if (parent.sequence.fork(&handle, 1, child.left + 1)) {
        child.sequence = std::move(*sequence);
        counts_.forks++;
        forked_.push_back(std::move(child));
        return;
      }
    }
    child.computed = 0;
    waiting_.push_front(std::move(child));
  }

  const Model &model_;
  kvledger::Pool pool_;
  Attention attention_;
  kvl_identity_key key_{};
  kvl_identity root_{};
  std::deque<Work> waiting_;
  std::vector<Work> running_; /* the oldest first */
  std::vector<Work> forked_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> done_;
  Counts counts_;
};

}  // namespace transformer

#endif
