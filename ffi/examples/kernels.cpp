/* Decode over the ledger's table: keys and values of a prompt go into the blocks that the ledger gave, a query attends
 * to them through the same row, and the answer is compared with plain loops. On a GPU if this library has kernels for
 * one and there is one, else on the CPU device: the calls are the same.
 *
 *   ffi/install.sh installed cuda
 *   c++ -std=c++17 -I installed/include ffi/examples/kernels.cpp installed/lib/libkvledger_cuda.a \
 *       installed/lib/libkvledger.a -lpthread -ldl -lm -o kernels
 */
#include <kvledger.hpp>
#include <kvledger_cuda.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

/* A call of the device: what it says is what went wrong. */
#define DEVICE(call)                                                                \
  do {                                                                              \
    kvl_device_error error;                                                         \
    if ((call) != KVL_DEVICE_OK) {                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error.text);          \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

namespace {

constexpr std::uint32_t kBlocks = 32, kBlock = 16, kPrompt = 100, kHeads = 2, kQueryHeads = 8, kDim = 64;
constexpr std::uint32_t kThreadBlocks = 4, kRowElements = kHeads * kDim;
constexpr std::size_t kBlockElements = std::size_t{kBlock} * kRowElements;

/* bfloat16: the upper half of a float, rounded to nearest. */
std::uint16_t narrow(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float widen(std::uint16_t half) {
  const std::uint32_t bits = std::uint32_t{half} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::vector<std::uint16_t> noise(std::size_t count) {
  static std::uint64_t state = 1;
  std::vector<std::uint16_t> values(count);
  for (auto &value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = narrow(static_cast<float>(static_cast<std::int64_t>(state) >> 33) / (1u << 30) * 2);
  }
  return values;
}

/* A device and one stream of it. */
struct Gpu {
  kvl_device device;
  kvl_device_stream stream;

  Gpu() {
    DEVICE(kvl_device_open_any(&device, &error));
    DEVICE(kvl_device_open_stream(device, &stream, &error));
  }
  ~Gpu() { kvl_device_close(device, nullptr); } /* and all memory with it */

  template <class T>
  T *empty(std::size_t count) {
    kvl_device_address address;
    DEVICE(kvl_device_allocate(device, KVL_SPACE_DEVICE, count * sizeof(T), &address, &error));
    return KVL_POINTER(T, address);
  }
  template <class T>
  T *holding(const T *values, std::size_t count) {
    T *const memory = empty<T>(count);
    DEVICE(kvl_device_write(device, stream, address(memory), values, count * sizeof(T), &error));
    return memory;
  }
  template <class T>
  std::vector<T> read(const T *memory, std::size_t count) {
    std::vector<T> values(count);
    DEVICE(kvl_device_read(device, stream, values.data(), address(memory), count * sizeof(T), &error));
    return values;
  }
  static kvl_device_address address(const void *memory) { return reinterpret_cast<std::uintptr_t>(memory); }
};

/* What the kernel must come to, in double precision and without blocks. */
double expected(const std::vector<std::uint16_t> &query, const std::vector<std::uint16_t> &keys,
                const std::vector<std::uint16_t> &values, std::uint32_t head, std::uint32_t element) {
  const std::uint32_t of = head / (kQueryHeads / kHeads);
  double sum = 0, mass = 0;
  for (std::uint32_t token = 0; token < kPrompt; ++token) {
    double score = 0;
    for (std::uint32_t i = 0; i < kDim; ++i)
      score += double{widen(query[head * kDim + i])} * widen(keys[token * kRowElements + of * kDim + i]);
    const double weight = std::exp(score / std::sqrt(kDim));
    mass += weight;
    sum += weight * widen(values[token * kRowElements + of * kDim + element]);
  }
  return sum / mass;
}

}  // namespace

int main() {
  /* The ledger: a request with a prompt of 100 tokens has 7 blocks, in any order. */
  const auto config = kvledger::pool_config(kBlocks, kBlock, 4, 16);
  auto pool = kvledger::Pool::create(config);
  REQUIRE(pool);
  auto sequence = pool->open();
  REQUIRE(sequence && sequence->admit(kvledger::admission(kPrompt, 28)) && sequence->advance(kPrompt));
  const auto epoch = pool->submit(0);
  const auto row = sequence->row();
  REQUIRE(epoch && row && row->entries == 7);
  const std::uint32_t *const blocks = pool->table() + std::size_t{row->row} * config.table_width;

  /* Keys and values of the prompt, and where each token's go. Memory has the null block, which nothing reads. */
  Gpu gpu;
  const auto keys = noise(kPrompt * kRowElements), values = noise(kPrompt * kRowElements);
  const auto query = noise(kQueryHeads * kDim);
  std::vector<kvk_slot> slots(kPrompt);
  for (std::uint32_t token = 0; token < kPrompt; ++token) slots[token] = {blocks[token / kBlock], token % kBlock};
  const kvk_status none = {UINT64_MAX, 0, 0};

  kvk_append_params append{};
  append.cache.keys = gpu.empty<std::uint16_t>((kBlocks + 1) * kBlockElements);
  append.cache.values = gpu.empty<std::uint16_t>((kBlocks + 1) * kBlockElements);
  append.cache.block_stride = kBlockElements;
  append.cache.token_stride = append.token_stride = kRowElements;
  append.cache.head_stride = append.head_stride = kDim;
  append.cache.key_scale = append.cache.value_scale = 1;
  append.cache.blocks = kBlocks;
  append.cache.block_tokens = kBlock;
  append.cache.heads = kHeads;
  append.cache.head_dim = kDim;
  append.cache.type = append.type = KVK_BF16;
  append.keys = gpu.holding(keys.data(), keys.size());
  append.values = gpu.holding(values.data(), values.size());
  append.slots = gpu.holding(slots.data(), slots.size());
  append.status = gpu.holding(&none, 1);
  append.tokens = kPrompt;
  DEVICE(kvl_device_append(gpu.device, gpu.stream, &append, &error));

  /* How the work is cut, for as many thread blocks as there shall be. */
  auto split = KVL_SIZED(kvl_split);
  auto places = KVL_SIZED(kvl_split_places);
  kvl_split_header header;
  REQUIRE(kvl_split_decode(kHeads, kQueryHeads, kThreadBlocks, 4, kBlocks * kBlock, &split, nullptr) == KVL_OK);
  REQUIRE(kvl_split_layout(&split, &places, nullptr) == KVL_OK);
  std::vector<std::uint32_t> plan(places.bytes / 4);
  auto batch = KVL_SIZED(kvl_split_batch);
  batch.lengths = &kPrompt;
  batch.sequences = 1;
  REQUIRE(kvl_split_plan(&split, &batch, 1, plan.data(), plan.size(), &header, nullptr) == KVL_OK);
  const auto *const planned = reinterpret_cast<const unsigned char *>(gpu.holding(plan.data(), plan.size()));

  kvk_attend_params attend{};
  attend.cache = append.cache;
  attend.table.entries = gpu.holding(blocks, row->entries);
  attend.table.row_stride = attend.table.columns = row->entries;
  attend.lengths = gpu.holding(&kPrompt, 1);
  attend.queries = gpu.holding(query.data(), query.size());
  attend.output = gpu.empty<std::uint16_t>(query.size());
  attend.query_token_stride = attend.output_token_stride = kQueryHeads * kDim;
  attend.query_head_stride = attend.output_head_stride = kDim;
  attend.item_starts = reinterpret_cast<const std::uint32_t *>(planned + places.item_starts);
  attend.items = reinterpret_cast<const kvk_item *>(planned + places.items);
  attend.joins = reinterpret_cast<const kvk_join *>(planned + places.joins);
  attend.join_count = reinterpret_cast<const std::uint32_t *>(planned + places.join_count);
  attend.part_output = gpu.empty<float>(std::size_t{places.parts_max} * KVK_DECODE_ROWS * kDim);
  attend.part_lse = gpu.empty<float>(std::size_t{places.parts_max} * KVK_DECODE_ROWS);
  attend.status = append.status;
  attend.scale = 1 / std::sqrt(static_cast<float>(kDim));
  attend.window_left = -1;
  attend.query_heads = kQueryHeads;
  attend.sequences = 1;
  attend.type = KVK_BF16;
  attend.tile_rows = KVK_DECODE_ROWS;
  attend.thread_blocks = kThreadBlocks;
  attend.merge_thread_blocks = kThreadBlocks;
  auto sizes = KVL_SIZED(kvl_attend_sizes);
  sizes.table_rows = sizes.query_tokens = 1;
  sizes.longest = kPrompt;
  sizes.items = places.items_max;
  sizes.joins = places.joins_max;
  sizes.parts = places.parts_max;
  DEVICE(kvl_device_attend(gpu.device, gpu.stream, &attend, &sizes, &error));
  DEVICE(kvl_device_merge(gpu.device, gpu.stream, &attend, &sizes, &error));

  /* The step is over when its event is: then, and not before, may blocks that it reads be used again. */
  kvl_device_event mark;
  DEVICE(kvl_device_open_event(gpu.device, &mark, &error));
  DEVICE(kvl_device_record_event(gpu.device, mark, gpu.stream, &error));
  const auto released = sequence->end();
  REQUIRE(released && released->retiring == 7 && released->after == *epoch);
  DEVICE(kvl_device_synchronize_event(gpu.device, mark, &error));
  REQUIRE(pool->complete(0, *epoch) && pool->snapshot()->free == kBlocks);

  const auto output = gpu.read(static_cast<const std::uint16_t *>(attend.output), query.size());
  const auto status = gpu.read(static_cast<const kvk_status *>(attend.status), 1);
  REQUIRE(status[0].faults == 0);
  double worst = 0;
  for (std::uint32_t head = 0; head < kQueryHeads; ++head)
    for (std::uint32_t i = 0; i < kDim; ++i)
      worst = std::fmax(worst, std::fabs(widen(output[head * kDim + i]) - expected(query, keys, values, head, i)));
  REQUIRE(worst < 1e-2);

  /* A mistake is refused before anything is enqueued, and says how to mend it. */
  kvl_device_error error;
  attend.table.columns = 6;
  REQUIRE(kvl_device_attend(gpu.device, gpu.stream, &attend, &sizes, &error) == KVL_DEVICE_REFUSED);
  REQUIRE(std::strstr(error.text, "table.columns") != nullptr);

  auto facts = KVL_SIZED(kvl_device_facts);
  REQUIRE(kvl_device_get_facts(gpu.device, &facts, nullptr) == KVL_DEVICE_OK);
  std::printf("%s: 100 keys, 8 heads, as far as %.1e from what it should be\n", facts.name, worst);
}
