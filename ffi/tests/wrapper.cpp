/* What kvledger.hpp adds of its own: sizes of structs that can grow, which nobody has to set who uses it.
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

}  // namespace

int main() {
  structs_are_made_with_their_sizes();
  calls_set_them();
  refusals_come_through();
  free_pools();
  puts("nobody sets a size");
}
