/* A request makes room for others: what it has computed moves to host memory, a pool of its own, and comes back later.
 * Both ledgers agree at each step on who may touch which bytes, and the bytes are compared.
 *
 *   ffi/archive.sh && c++ -std=c++17 -I ffi/include ffi/examples/offload.cpp target/capi/dist/libkvledger.a -o offload
 */
#include <kvledger.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

namespace {

constexpr std::uint32_t kBlock = 16, kDevice = 8, kHost = 16, kPrompt = 5 * kBlock, kOutput = 2 * kBlock;
constexpr std::size_t kBlockBytes = 256;

/* Blocks of bytes, the null block first: what a ledger's ids name. */
struct Tier {
  kvledger::Pool pool;
  std::vector<unsigned char> bytes;

  Tier(std::uint32_t number, std::uint32_t blocks) : bytes((blocks + 1) * kBlockBytes) {
    auto config = kvledger::pool_config(blocks, kBlock, 4, 16);
    config.number = number; /* pools that work together have different ones */
    config.transfers = 4;
    auto made = kvledger::Pool::create(config);
    REQUIRE(made);
    pool = std::move(*made);
  }
  unsigned char *block(std::uint32_t id) { return &bytes[id * kBlockBytes]; }
};

std::vector<std::uint32_t> row(const Tier &tier, const kvledger::Sequence &sequence) {
  std::vector<std::uint32_t> blocks(16);
  std::uint32_t count;
  REQUIRE(kvl_export_row(tier.pool.get(), sequence.handle(), blocks.data(), blocks.size(), &count, nullptr) == KVL_OK);
  blocks.resize(count);
  return blocks;
}

kvledger::Sequence opened(const Tier &tier) {
  auto sequence = tier.pool.open();
  REQUIRE(sequence);
  return std::move(*sequence);
}

void copy(Tier &to, std::uint32_t destination, Tier &from, std::uint32_t source) {
  std::copy_n(from.block(source), kBlockBytes, to.block(destination));
}

}  // namespace

int main() {
  Tier device(1, kDevice), host(2, kHost);

  /* A request computes its prompt: 5 blocks, of 7 promised. */
  auto request = opened(device);
  REQUIRE(request.admit(kvledger::admission(kPrompt, kOutput)));
  REQUIRE(request.advance(kPrompt));
  const auto computed = row(device, request);
  for (std::size_t i = 0; i < computed.size(); ++i)
    std::fill_n(device.block(computed[i]), kBlockBytes, static_cast<unsigned char>(10 + i));

  /* Another one does not fit beside it. */
  auto urgent = opened(device);
  auto refused = urgent.admit(kvledger::admission(kPrompt, kOutput));
  REQUIRE(refused.status() == KVL_WOULD_BLOCK && refused.refusal().short_by == 6);

  /* The first is offloaded: 5 pairs to copy. Until the copy is over its blocks are nobody's, and retiring. */
  auto parked = opened(host);
  kvl_block_pair pairs[kDevice];
  kvl_offloaded offloaded;
  const auto wanted = kvledger::admission(kPrompt, kOutput);
  REQUIRE(kvl_offload(device.pool.get(), request.handle(), host.pool.get(), parked.handle(), &wanted, pairs, kDevice,
                      &offloaded, nullptr) == KVL_OK);
  REQUIRE(offloaded.blocks == 5 && offloaded.released.retiring == 5);
  REQUIRE(device.pool.snapshot()->retiring == 5);
  for (std::uint32_t i = 0; i < offloaded.blocks; ++i)
    copy(host, pairs[i].destination, device, pairs[i].source);
  std::uint32_t gripped;
  REQUIRE(kvl_complete_transfer(device.pool.get(), offloaded.transfer, &gripped, nullptr) == KVL_OK && gripped == 5);
  REQUIRE(device.pool.snapshot()->free == kDevice);

  /* Now there is room; the urgent one overwrites what the device had. */
  REQUIRE(urgent.admit(kvledger::admission(kPrompt, kOutput)));
  REQUIRE(urgent.advance(kPrompt + kOutput));
  for (auto id : row(device, urgent)) std::fill_n(device.block(id), kBlockBytes, static_cast<unsigned char>(0xEE));
  REQUIRE(urgent.end());

  /* The first comes back: its handle is still open. The host's blocks are held while they are read. */
  REQUIRE(request.admit(kvledger::admission(kPrompt, kOutput)));
  REQUIRE(request.advance(kPrompt));
  kvl_transfer reading;
  REQUIRE(kvl_hold(host.pool.get(), parked.handle(), 0, 5, KVL_ACCESS_READ, &reading, nullptr) == KVL_OK);
  const auto back = row(device, request), from = row(host, parked);
  for (std::size_t i = 0; i < back.size(); ++i) copy(device, back[i], host, from[i]);
  REQUIRE(kvl_complete_transfer(host.pool.get(), reading, &gripped, nullptr) == KVL_OK);
  REQUIRE(parked.end());

  for (std::size_t i = 0; i < back.size(); ++i)
    for (std::size_t byte = 0; byte < kBlockBytes; ++byte) REQUIRE(device.block(back[i])[byte] == 10 + i);
  REQUIRE(request.advance(kOutput));
  REQUIRE(request.end());
  REQUIRE(device.pool.validate()->invariant == 0 && host.pool.validate()->invariant == 0);
  REQUIRE(device.pool.snapshot()->free == kDevice && host.pool.snapshot()->free == kHost);
  std::puts("5 blocks went to the host and came back as they were");
}
