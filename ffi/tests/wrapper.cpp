/* What kvledger.hpp adds of its own: sizes of structs that can grow, which nobody has to set who uses it, and objects that
 * own what they name.
 *
 *   c++ -std=c++17 -I ffi/include ffi/tests/wrapper.cpp target/capi/dist/libkvledger.a -o wrapper && ./wrapper
 */
#include "common/check.h"
#include <kvledger.hpp>

namespace {

/* As one that was filled in by hand. */
template <class T>
T without_size(T sized) {
  sized.size = 0;
  return sized;
}

void structs_are_made_with_their_sizes() {
  constexpr auto domain = KVL_SIZED(kvl_domain);
  static_assert(domain.size == sizeof(kvl_domain) && domain.group == 0 && domain.salt == nullptr);
  const auto config = kvledger::pool_config(BLOCKS, BLOCK, 8, WIDTH);
  REQUIRE(config.size == sizeof config && config.blocks == BLOCKS && config.table_width == WIDTH);
  const auto wanted = kvledger::admission(BLOCK, 2 * BLOCK);
  REQUIRE(wanted.size == sizeof wanted && wanted.prompt_tokens == BLOCK && wanted.output_tokens_max == 2 * BLOCK);
}

void calls_set_them() {
  auto config = without_size(kvledger::pool_config(BLOCKS, BLOCK, 8, WIDTH));
  config.cache = KVL_CACHE_LRU;
  const auto pool = kvledger::Pool::create(config);
  REQUIRE(pool);
  const auto wanted = without_size(kvledger::admission(BLOCK, BLOCK));
  auto one = pool->open(), other = pool->open();
  const auto admitted = one->admit(wanted);
  REQUIRE(admitted && admitted->promised == 2);
  const auto found = other->admit(wanted, prefix_of(nullptr, 0));
  REQUIRE(found && found->promised == 2);
  const auto snapshot = pool->snapshot();
  REQUIRE(snapshot && snapshot->size == sizeof(kvl_pool_snapshot) && snapshot->promised == 4);
  /* Theirs are copies: what the caller has stays as it is. */
  REQUIRE(config.size == 0 && wanted.size == 0);
}

/* And what they ask of C is refused like everybody's. */
void refusals_come_through() {
  const auto pool = kvledger::Pool::create(kvledger::pool_config(0, BLOCK, 8, WIDTH));
  REQUIRE(pool.status() == KVL_INVALID && pool.refusal().argument == KVL_ARGUMENT_BLOCKS);
}

/* What was moved from, or given up, names nothing that is another's now. */
void moved_from_is_empty() {
  auto made = kvledger::Pool::create(kvledger::pool_config(BLOCKS, BLOCK, 8, WIDTH));
  const auto *view = made->get();
  const auto *table = made->table();
  const auto pool = std::move(*made);
  REQUIRE(pool && pool.get() == view && pool.table() == table);
  REQUIRE(!*made && made->get() == nullptr && made->table() == nullptr);
  REQUIRE(made->open().refusal().argument == KVL_ARGUMENT_POINTER);

  auto opened = pool.open();
  const auto handle = opened->handle();
  auto first = std::move(*opened);
  REQUIRE(first && first.handle().generation == handle.generation);
  REQUIRE(!*opened && opened->handle().generation == 0 && opened->release().generation == 0);
  REQUIRE(opened->end().status() == KVL_INVALID);
  auto second = kvledger::Sequence();
  second = std::move(first);
  REQUIRE(second && !first && first.handle().generation == 0);
  std::swap(first, second);
  REQUIRE(first && !second && pool.snapshot()->sequences == 1);
  /* Assigned over, it ends. What is in an answer that is not kept is moved out of it, and no reference is left to it. */
  static_assert(std::is_same<decltype(*pool.open()), kvledger::Sequence>::value);
  first = *pool.open();
  REQUIRE(pool.snapshot()->sequences == 1 && pool.cancel(handle).status() == KVL_STALE);
  const auto given = first.release();
  REQUIRE(!first && first.handle().generation == 0 && pool.snapshot()->sequences == 1);
  /* Cancelled by its handle, whoever has the sequence, and whether it is still there. */
  { const kvledger::Sequence taken(pool.get(), given); REQUIRE(pool.cancel(given) && taken.row().status() == KVL_CANCELLED); }
  REQUIRE(pool.cancel(given).status() == KVL_STALE && pool.snapshot()->sequences == 0);
}

/* Each call does what the function of its name does: arguments are where they belong. */
void calls_are_those_of_c() {
  auto config = kvledger::pool_config(BLOCKS, BLOCK, 8, WIDTH);
  config.cache = KVL_CACHE_LRU;
  config.streams = 2;
  config.rows = 2;
  const auto pool = kvledger::Pool::create(config);
  auto sequence = pool->open();
  auto wanted = kvledger::admission(2 * BLOCK, 4 * BLOCK);
  wanted.speculative_tokens = BLOCK;
  REQUIRE(sequence->admit(wanted)->promised == 7);
  const auto step = pool->submit(1);
  REQUIRE(step && sequence->advance(2 * BLOCK)->taken == 2);
  const auto row = sequence->launch_row(*step);
  REQUIRE(row && row->tokens == 2 * BLOCK && row->entries == 2 && sequence->row()->version == row->version);

  /* Proposed, and half of it taken back. */
  REQUIRE(sequence->speculate(BLOCK + 1)->taken == 2);
  const auto kept = sequence->accept(1, true);
  REQUIRE(kept && kept->retiring == 1 && sequence->row()->tokens == 2 * BLOCK + 1);

  const kvl_identity names[] = {{1, 1}, {2, 2}};
  const auto prefix = prefix_of(names, 2);
  const auto published = sequence->publish(0, prefix, *step);
  REQUIRE(published && published->stored == 2 && published->known == 0);
  REQUIRE(pool->lookup(0, prefix)->blocks == 0); /* they are still being written */
  const auto releases = pool->release_number();
  REQUIRE(releases && *pool->complete(1, *step) == *step);
  REQUIRE(pool->lookup(0, prefix)->blocks == 2 && pool->lookup(0, prefix, BLOCK)->blocks == 2);
  REQUIRE(pool->lookup(1, prefix).refusal().argument == KVL_ARGUMENT_GROUP);

  REQUIRE(sequence->preempt()->promised == 4);
  REQUIRE(*pool->release_number() != *releases && pool->snapshot()->idle == 2);
  REQUIRE(*pool->evict(1) == 1 && pool->snapshot()->idle == 1 && *pool->evict(9) == 1);

  /* A device that is lost: what was outstanding in its stream is over. */
  const auto lost = pool->submit(0), other = pool->submit(1);
  REQUIRE(lost && other && *pool->abandon(0) == *lost && *pool->complete(1, *other) == *other);
  REQUIRE(sequence->cancel() && sequence->row().status() == KVL_CANCELLED);
  REQUIRE(sequence->end() && !*sequence && sequence->end().status() == KVL_INVALID);
  REQUIRE(pool->counts()->headroom == BLOCKS && pool->validate()->invariant == 0);
}

/* What one part made, another sees, and neither frees what is not its own. */
void attached_is_the_same_pool() {
  const auto config = kvledger::pool_config(BLOCKS, BLOCK, 8, WIDTH);
  std::size_t bytes = 0, entries = 0;
  OK(kvl_config_bytes(&config, &bytes, nullptr));
  OK(kvl_config_table_entries(&config, &entries, nullptr));
  void *memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  auto *table = static_cast<std::uint32_t *>(calloc(entries, sizeof(std::uint32_t)));
  REQUIRE(memory != nullptr && table != nullptr);
  kvl_pool made;
  OK(kvl_init(memory, bytes, table, entries, &config, &made, nullptr));
  {
    const auto seen = kvledger::Pool::attach(memory, bytes, table, entries);
    REQUIRE(seen && seen->table() == table);
    const auto sequence = seen->open();
    kvl_pool_snapshot now = KVL_SIZED(kvl_pool_snapshot);
    OK(kvl_snapshot(&made, &now, nullptr));
    REQUIRE(sequence && now.sequences == 1);
  }
  at_rest(&made);
  REQUIRE(kvledger::Pool::attach(memory, bytes - 1, table, entries).refusal().argument == KVL_ARGUMENT_MEMORY);
  REQUIRE(kvledger::Pool::attach(memory, bytes, table, entries - 1).refusal().argument == KVL_ARGUMENT_TABLE);
  free(table);
  free(memory);
}

}  // namespace

int main() {
  structs_are_made_with_their_sizes();
  calls_set_them();
  refusals_come_through();
  moved_from_is_empty();
  calls_are_those_of_c();
  attached_is_the_same_pool();
  free_pools();
  puts("nobody sets a size, nobody has what is another's, and calls are those of C");
}
