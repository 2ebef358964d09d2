/* kvledger for C++17: pools and sequences that clean up after themselves, over kvledger.h. Header only, no exceptions,
 * no RTTI; the functions called are those of the C archive, so an object file without exceptions can use it.
 *
 *   auto config = kvledger::pool_config(256, 16, 8, 145);
 *   auto pool = kvledger::Pool::create(config);      memory is allocated here, once
 *   if (!pool) ... pool.refusal().argument ...
 *   auto sequence = pool->open();                    ends itself when it goes out of scope
 *   auto admitted = sequence->admit(kvledger::admission(2048, 257));
 *   if (!admitted && admitted.status() == KVL_RETRY_AFTER) ... admitted.refusal().after ...
 *
 * What each call does, costs and refuses, and which threads may make it, is said at the function of the same name in
 * kvledger.h: `pool.submit` is kvl_submit. What is not wrapped is called with pool.get() and sequence.handle(). Sizes of
 * structs that can grow are set here; for calls that are not wrapped there is KVL_SIZED. */
#ifndef KVLEDGER_HPP
#define KVLEDGER_HPP

#include "kvledger.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace kvledger {

/* What a call answered: a value, or the refusal. Asking for the one that is not there is a mistake of the caller, and
 * asserted. */
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept : value_(std::move(value)), refusal_{} {}
  Result(const kvl_refusal &refusal) noexcept : value_{}, refusal_(refusal) {}

  explicit operator bool() const noexcept { return refusal_.code == KVL_OK; }
  kvl_status status() const noexcept { return refusal_.code; }
  const kvl_refusal &refusal() const noexcept { return refusal_; }

  T &operator*() & noexcept { return assert(*this), value_; }
  const T &operator*() const & noexcept { return assert(*this), value_; }
  /* Of an answer that is not kept, moved out of it: no reference is left that dangles. */
  T operator*() && noexcept { return assert(*this), std::move(value_); }
  T *operator->() noexcept { return &**this; }
  const T *operator->() const noexcept { return &**this; }

 private:
  T value_;
  kvl_refusal refusal_;
};

/* The value of calls that have none. */
struct Done {};

namespace detail {

/* What a call writes to: zeros, and the size of a struct that can grow. */
template <class Out, class = void>
struct Room {
  static Out empty() noexcept { return Out{}; }
};
template <class Out>
struct Room<Out, std::void_t<decltype(Out::size)>> {
  static_assert(std::is_same<decltype(Out::size), std::size_t>::value, "what a struct that can grow begins with");
  static Out empty() noexcept { return kvl_sized<Out>(); }
};

/* Calls a function that writes an `Out`, and one that writes nothing. */
template <class Out, class Function, class... Arguments>
Result<Out> ask(Function function, Arguments... arguments) noexcept {
  Out out = Room<Out>::empty();
  kvl_refusal refusal{};
  if (function(arguments..., &out, &refusal) == KVL_OK) return out;
  return refusal;
}
template <class Function, class... Arguments>
Result<Done> ask_done(Function function, Arguments... arguments) noexcept {
  kvl_refusal refusal{};
  if (function(arguments..., &refusal) == KVL_OK) return Done{};
  return refusal;
}

/* Memory of a pool and of its table, aligned as a pool wants it. */
struct Release {
  void operator()(void *memory) const noexcept { ::operator delete(memory, std::align_val_t{KVL_MEMORY_ALIGN}); }
};
using Memory = std::unique_ptr<void, Release>;

inline Memory allocate(std::size_t bytes) noexcept {
  return Memory(::operator new(bytes, std::align_val_t{KVL_MEMORY_ALIGN}, std::nothrow));
}

}  // namespace detail

/* As kvl_config_new, kvl_admission_full and kvl_prefix_of, which refuse nothing here: change fields of what they answer. */
inline kvl_pool_config pool_config(std::uint32_t blocks, std::uint32_t block_tokens, std::uint32_t sequences,
                                   std::uint32_t table_width) noexcept {
  auto config = kvl_sized<kvl_pool_config>();
  kvl_config_new(blocks, block_tokens, sequences, table_width, &config, nullptr);
  return config;
}
inline kvl_admission admission(std::uint32_t prompt_tokens, std::uint32_t output_tokens_max) noexcept {
  auto admission = kvl_sized<kvl_admission>();
  kvl_admission_full(prompt_tokens, output_tokens_max, &admission, nullptr);
  return admission;
}
inline kvl_prefix prefix(const kvl_identity *identities, std::size_t count) noexcept {
  auto prefix = kvl_sized<kvl_prefix>();
  kvl_prefix_of(identities, count, &prefix, nullptr);
  return prefix;
}

/* A request, from open to end. Moved, not copied. Destroyed, it is ended as kvl_end does: its blocks come back when
 * submitted work is over. It is driven by one thread at a time, and must not outlive the pool that opened it; nobody may
 * be driving it when it is destroyed, or assigned to: it could not end, and what it was promised would be lost. What is
 * const changes nothing of it, or may be called from any thread. */
class Sequence {
 public:
  Sequence() noexcept = default;
  Sequence(const kvl_pool *pool, kvl_sequence handle) noexcept : pool_(pool), handle_(handle) {}
  Sequence(Sequence &&other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), handle_(std::exchange(other.handle_, {})) {}
  Sequence &operator=(Sequence &&other) noexcept {
    if (this != &other) {
      finish();
      pool_ = std::exchange(other.pool_, nullptr);
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Sequence() { finish(); }

  /* Whether there is one that has not ended: not after a move, or `end`. */
  explicit operator bool() const noexcept { return pool_ != nullptr; }
  /* Zeros, which are stale, after a move. */
  kvl_sequence handle() const noexcept { return handle_; }
  /* It is somebody else's to end now. */
  kvl_sequence release() noexcept {
    pool_ = nullptr;
    return std::exchange(handle_, {});
  }

  Result<kvl_admitted> admit(kvl_admission admission) noexcept {
    admission.size = sizeof admission;
    return detail::ask<kvl_admitted>(kvl_admit, pool_, handle_, &admission);
  }
  Result<kvl_admitted> admit(kvl_admission admission, kvl_prefix prefix) noexcept {
    admission.size = sizeof admission;
    prefix.size = sizeof prefix;
    return detail::ask<kvl_admitted>(kvl_admit_prefix, pool_, handle_, &admission, &prefix);
  }
  Result<kvl_advanced> advance(std::uint32_t tokens) noexcept {
    return detail::ask<kvl_advanced>(kvl_advance, pool_, handle_, tokens);
  }
  Result<kvl_advanced> advance_growing(std::uint32_t tokens, std::uint32_t watermark) noexcept {
    return detail::ask<kvl_advanced>(kvl_advance_growing, pool_, handle_, tokens, watermark);
  }
  Result<kvl_advanced> speculate(std::uint32_t tokens) noexcept {
    return detail::ask<kvl_advanced>(kvl_speculate, pool_, handle_, tokens);
  }
  Result<kvl_released> accept(std::uint32_t tokens, bool give_back) noexcept {
    return detail::ask<kvl_released>(kvl_accept, pool_, handle_, tokens, give_back);
  }
  /* `children` are opened sequences of the same pool. */
  Result<kvl_forked> fork(const kvl_sequence *children, std::size_t count, std::uint32_t output_tokens_max,
                          std::uint32_t watermark = 0) noexcept {
    return detail::ask<kvl_forked>(kvl_fork, pool_, handle_, children, count, output_tokens_max, watermark);
  }
  Result<kvl_copy> copy_order() const noexcept {
    return detail::ask<kvl_copy>(kvl_copy_order, pool_, handle_);
  }
  Result<Done> copy_submitted(std::uint64_t epoch) noexcept {
    return detail::ask_done(kvl_copy_submitted, pool_, handle_, epoch);
  }
  Result<kvl_published> publish(std::uint32_t first, kvl_prefix prefix, std::uint64_t epoch, bool keep = true) noexcept {
    prefix.size = sizeof prefix;
    return detail::ask<kvl_published>(kvl_publish, pool_, handle_, first, &prefix, epoch, keep,
                                      static_cast<std::uint32_t *>(nullptr), std::size_t{0});
  }
  Result<kvl_row_view> row() const noexcept {
    return detail::ask<kvl_row_view>(kvl_row, pool_, handle_);
  }
  Result<kvl_row_view> launch_row(std::uint64_t epoch) noexcept {
    return detail::ask<kvl_row_view>(kvl_launch_row, pool_, handle_, epoch);
  }
  /* From any thread, while this object is neither ended, moved nor destroyed: who cannot know that keeps its handle, for
   * Pool::cancel. */
  Result<Done> cancel() const noexcept {
    return detail::ask_done(kvl_cancel, pool_, handle_);
  }
  Result<kvl_released> preempt() noexcept {
    return detail::ask<kvl_released>(kvl_preempt, pool_, handle_);
  }
  /* Refused with KVL_BUSY, it has not ended and is still there. */
  Result<kvl_released> end() noexcept {
    auto released = detail::ask<kvl_released>(kvl_end, pool_, handle_);
    if (released.status() != KVL_BUSY) pool_ = nullptr;
    return released;
  }

 private:
  void finish() noexcept {
    if (pool_ == nullptr) return;
    const kvl_status status = end().status();
    assert(status != KVL_BUSY);
    (void)status;
  }

  const kvl_pool *pool_ = nullptr;
  kvl_sequence handle_{};
};

/* A pool and the memory that it is in. Moved, not copied; the address of get() does not change by it. Its calls may be
 * made from any thread; destroying it is for when nobody else uses it. */
class Pool {
 public:
  Pool() noexcept = default;

  /* Allocates memory and makes a pool of it. KVL_INVALID with the field of `config` that is wrong, or with
   * KVL_ARGUMENT_MEMORY if there is not so much. */
  static Result<Pool> create(kvl_pool_config config) noexcept {
    config.size = sizeof config;
    std::size_t bytes = 0, entries = 0;
    kvl_refusal refusal{};
    if (kvl_config_bytes(&config, &bytes, &refusal) != KVL_OK) return refusal;
    if (kvl_config_table_entries(&config, &entries, &refusal) != KVL_OK) return refusal;
    Pool pool;
    pool.memory_ = detail::allocate(bytes);
    pool.table_memory_ = detail::allocate(entries * sizeof(std::uint32_t));
    pool.view_.reset(new (std::nothrow) kvl_pool);
    if (!pool.memory_ || !pool.table_memory_ || !pool.view_) {
      refusal.code = KVL_INVALID;
      refusal.argument = KVL_ARGUMENT_MEMORY;
      return refusal;
    }
    pool.table_ = static_cast<std::uint32_t *>(pool.table_memory_.get());
    if (kvl_init(pool.memory_.get(), bytes, pool.table_, entries, &config, pool.view_.get(), &refusal) != KVL_OK)
      return refusal;
    return pool;
  }

  /* A view of a pool that another process, or another part of this one, has made in `memory`, which stays theirs. */
  static Result<Pool> attach(void *memory, std::size_t bytes, std::uint32_t *table, std::size_t entries) noexcept {
    kvl_refusal refusal{};
    Pool pool;
    pool.table_ = table;
    pool.view_.reset(new (std::nothrow) kvl_pool);
    if (!pool.view_) {
      refusal.code = KVL_INVALID;
      refusal.argument = KVL_ARGUMENT_MEMORY;
      return refusal;
    }
    if (kvl_attach(memory, bytes, table, entries, pool.view_.get(), &refusal) != KVL_OK) return refusal;
    return pool;
  }

  explicit operator bool() const noexcept { return view_ != nullptr; }
  const kvl_pool *get() const noexcept { return view_.get(); }
  /* Rows of block ids; kvl_row says which one a sequence has. */
  const std::uint32_t *table() const noexcept { return view_ ? table_ : nullptr; }

  Result<Sequence> open() const noexcept {
    auto handle =
        detail::ask<kvl_sequence>(kvl_open, get());
    if (!handle) return handle.refusal();
    return Sequence(get(), *handle);
  }
  /* At any moment, whatever becomes of the Sequence. */
  Result<Done> cancel(kvl_sequence sequence) const noexcept {
    return detail::ask_done(kvl_cancel, get(), sequence);
  }
  Result<std::uint64_t> submit(std::uint32_t stream) const noexcept {
    return detail::ask<std::uint64_t>(kvl_submit, get(), stream);
  }
  /* The frontier. */
  Result<std::uint64_t> complete(std::uint32_t stream, std::uint64_t epoch, bool failed = false) const noexcept {
    return detail::ask<std::uint64_t>(kvl_complete, get(), stream, epoch, failed);
  }
  Result<std::uint64_t> abandon(std::uint32_t stream) const noexcept {
    return detail::ask<std::uint64_t>(kvl_abandon, get(), stream);
  }
  Result<kvl_found> lookup(std::uint32_t group, kvl_prefix prefix, std::uint32_t window_tokens = 0) const noexcept {
    prefix.size = sizeof prefix;
    return detail::ask<kvl_found>(kvl_lookup, get(), group, &prefix, window_tokens);
  }
  Result<std::uint32_t> evict(std::uint32_t blocks) const noexcept {
    return detail::ask<std::uint32_t>(kvl_evict, get(), blocks);
  }
  Result<std::uint64_t> release_number() const noexcept {
    return detail::ask<std::uint64_t>(kvl_release_number, get());
  }
  Result<kvl_pool_counts> counts() const noexcept {
    return detail::ask<kvl_pool_counts>(kvl_counts, get());
  }
  Result<kvl_pool_snapshot> snapshot() const noexcept {
    return detail::ask<kvl_pool_snapshot>(kvl_snapshot, get());
  }
  Result<kvl_fault> validate() const noexcept {
    return detail::ask<kvl_fault>(kvl_validate, get());
  }

 private:
  detail::Memory memory_;
  detail::Memory table_memory_;
  std::unique_ptr<kvl_pool> view_;
  std::uint32_t *table_ = nullptr;
};

}  // namespace kvledger

#endif
