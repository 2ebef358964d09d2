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
  /* Assigned over, it ends. */
  first = std::move(*pool.open());
  REQUIRE(pool.snapshot()->sequences == 1 && pool.cancel(handle).status() == KVL_STALE);
  const auto given = first.release();
  REQUIRE(!first && first.handle().generation == 0 && pool.snapshot()->sequences == 1);
  /* Cancelled by its handle, whoever has the sequence, and whether it is still there. */
  { const kvledger::Sequence taken(pool.get(), given); REQUIRE(pool.cancel(given) && taken.row().status() == KVL_CANCELLED); }
  REQUIRE(pool.cancel(given).status() == KVL_STALE && pool.snapshot()->sequences == 0);
}

}  // namespace

int main() {
  structs_are_made_with_their_sizes();
  calls_set_them();
  refusals_come_through();
  moved_from_is_empty();
  free_pools();
  puts("nobody sets a size, and nobody has what is another's");
}
