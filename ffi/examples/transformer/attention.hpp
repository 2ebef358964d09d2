/* Attention over blocks, on a device: keys and values of a step are appended, queries attend to them through a table.
 *
 * The work is cut at fixed places of each sequence (`chunk_keys`), so that a result does not depend, in a single bit, on
 * the batch that it was computed in. A block is contiguous over all layers: copying one is one copy. */
#ifndef TRANSFORMER_ATTENTION_HPP
#define TRANSFORMER_ATTENTION_HPP

#include "model.hpp"

#include <kvledger.h>
#include <kvledger_cuda.h>

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

#define DEVICE(call)                                                                \
  do {                                                                              \
    kvl_device_error error;                                                         \
    if ((call) != KVL_DEVICE_OK) {                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error.text);          \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

namespace transformer {

/* The tokens of one step: sequence after sequence, of each the newest ones. */
struct Batch {
  std::vector<std::uint32_t> table;         /* [sequences][columns] */
  std::vector<std::uint32_t> lengths;       /* [sequences], those of the step included */
  std::vector<std::uint32_t> query_starts;  /* [sequences + 1] */
  std::vector<kvk_slot> slots;              /* [tokens] */
  std::uint32_t columns;
};

class Attention {
 public:
  Attention(std::uint32_t blocks, std::uint32_t block_tokens, std::uint32_t sequences_max, std::uint32_t tokens_max,
            std::uint32_t keys_max)
      : blocks_(blocks), block_tokens_(block_tokens) {
    DEVICE(kvl_device_open_any(&device_, &error));
    DEVICE(kvl_device_open_stream(device_, &stream_, &error));
    DEVICE(kvl_device_open_event(device_, &mark_, &error));
    REQUIRE(kvl_split_decode(kHeads, kQueryHeads, kThreadBlocks, sequences_max, keys_max, &split_, nullptr) == KVL_OK);
    split_.query_tokens_max = tokens_max;
    split_.chunk_keys = kChunk;
    REQUIRE(kvl_split_layout(&split_, &places_, nullptr) == KVL_OK);
    words_.resize(places_.bytes / 4);

    pool_ = take<Half>((blocks_ + 1) * block_elements());
    queries_ = take<Half>(tokens_max * kQueryWidth);
    output_ = take<Half>(tokens_max * kQueryWidth);
    keys_ = take<Half>(tokens_max * kKeyWidth);
    values_ = take<Half>(tokens_max * kKeyWidth);
    slots_ = take<kvk_slot>(tokens_max);
    lengths_ = take<std::uint32_t>(sequences_max);
    query_starts_ = take<std::uint32_t>(sequences_max + 1);
    table_ = take<std::uint32_t>(sequences_max * (keys_max / block_tokens + 1));
    plan_ = take<unsigned char>(places_.bytes);
    part_output_ = take<float>(places_.parts_max * KVK_DECODE_ROWS * kDim);
    part_lse_ = take<float>(places_.parts_max * KVK_DECODE_ROWS);
    pair_ = take<kvk_copy_pair>(1);
    const kvk_status none = {UINT64_MAX, 0, 0};
    status_ = take<kvk_status>(1);
    write(status_, &none, 1);
  }
  Attention(const Attention &) = delete;
  ~Attention() { kvl_device_close(device_, nullptr); }

  /* What is the same for all layers of a step. */
  void begin(const Batch &batch) {
    const auto sequences = static_cast<std::uint32_t>(batch.lengths.size());
    kvl_split_header header;
    auto lengths = KVL_SIZED(kvl_split_batch);
    lengths.lengths = batch.lengths.data();
    lengths.query_starts = batch.query_starts.data();
    lengths.sequences = sequences;
    REQUIRE(kvl_split_plan(&split_, &lengths, ++generation_, words_.data(), words_.size(), &header, nullptr) == KVL_OK);
    write(reinterpret_cast<std::uint32_t *>(plan_), words_.data(), words_.size());
    write(table_, batch.table.data(), batch.table.size());
    write(lengths_, batch.lengths.data(), batch.lengths.size());
    write(query_starts_, batch.query_starts.data(), batch.query_starts.size());
    write(slots_, batch.slots.data(), batch.slots.size());
    sizes_.table_rows = sequences;
    sizes_.longest = *std::max_element(batch.lengths.begin(), batch.lengths.end());
    sizes_.query_tokens = batch.query_starts.back();
    sizes_.items = places_.items_max;
    sizes_.joins = places_.joins_max;
    sizes_.parts = places_.parts_max;
    columns_ = batch.columns;
  }

  /* One layer: stores keys and values, and fills the output. */
  void run(std::uint32_t layer, Heads &heads) {
    write(keys_, heads.keys.data(), heads.keys.size());
    write(values_, heads.values.data(), heads.values.size());
    write(queries_, heads.queries.data(), heads.queries.size());
    const kvk_append_params append = append_params(layer);
    const kvk_attend_params attend = attend_params(layer);
    DEVICE(kvl_device_append(device_, stream_, &append, &error));
    DEVICE(kvl_device_attend(device_, stream_, &attend, &sizes_, &error));
    DEVICE(kvl_device_merge(device_, stream_, &attend, &sizes_, &error));
    DEVICE(kvl_device_read(device_, stream_, heads.output.data(), address(output_), heads.output.size() * sizeof(Half),
                           &error));
  }

  /* The first tokens of a block into another one, all layers at once. Enqueued before the step's kernels. */
  void copy(const kvl_copy &order) {
    const kvk_copy_pair pair = {order.source, order.destination, order.slots, 0};
    write(pair_, &pair, 1);
    kvk_copy_params copy{};
    copy.source_shape = {static_cast<std::int64_t>(block_elements() * sizeof(Half)),
                         static_cast<std::int64_t>(side_elements() * sizeof(Half)), kKeyWidth * sizeof(Half),
                         2 * kLayers, block_tokens_};
    copy.destination_shape = copy.source_shape;
    copy.source = copy.destination = pool_;
    copy.pairs = pair_;
    copy.pair_count = 1;
    DEVICE(kvl_device_copy_blocks(device_, stream_, &copy, blocks_, blocks_, &error));
  }

  /* Waits until the step is over, as an engine does that has nothing else to do. */
  void finish() {
    DEVICE(kvl_device_record_event(device_, mark_, stream_, &error));
    DEVICE(kvl_device_synchronize_event(device_, mark_, &error));
    kvk_status status;
    DEVICE(kvl_device_read(device_, stream_, &status, address(status_), sizeof status, &error));
    REQUIRE(status.faults == 0);
  }

 private:
  static constexpr std::uint32_t kThreadBlocks = 4, kChunk = 64;

  /* Keys, or values, of one layer of one block; a block has both of all layers. */
  std::size_t side_elements() const { return std::size_t{block_tokens_} * kKeyWidth; }
  std::size_t block_elements() const { return 2 * kLayers * side_elements(); }

  template <class T>
  T *take(std::size_t count) {
    kvl_device_address found;
    DEVICE(kvl_device_allocate(device_, KVL_SPACE_DEVICE, count * sizeof(T), &found, &error));
    return KVL_POINTER(T, found);
  }
  template <class T>
  void write(T *to, const T *values, std::size_t count) {
    DEVICE(kvl_device_write(device_, stream_, address(to), values, count * sizeof(T), &error));
  }
  static kvl_device_address address(const void *memory) { return reinterpret_cast<std::uintptr_t>(memory); }

  kvk_cache cache(std::uint32_t layer) const {
    kvk_cache cache{};
    cache.keys = pool_ + 2 * layer * side_elements();
    cache.values = pool_ + (2 * layer + 1) * side_elements();
    cache.block_stride = static_cast<std::int64_t>(block_elements());
    cache.token_stride = kKeyWidth;
    cache.head_stride = kDim;
    cache.key_scale = cache.value_scale = 1;
    cache.blocks = blocks_;
    cache.block_tokens = block_tokens_;
    cache.heads = kHeads;
    cache.head_dim = kDim;
    cache.type = KVK_BF16;
    return cache;
  }

  kvk_append_params append_params(std::uint32_t layer) const {
    kvk_append_params p{};
    p.cache = cache(layer);
    p.keys = keys_;
    p.values = values_;
    p.token_stride = kKeyWidth;
    p.head_stride = kDim;
    p.slots = slots_;
    p.status = status_;
    p.tokens = sizes_.query_tokens;
    p.type = KVK_BF16;
    return p;
  }

  kvk_attend_params attend_params(std::uint32_t layer) const {
    kvk_attend_params p{};
    p.cache = cache(layer);
    p.table.entries = table_;
    p.table.row_stride = p.table.columns = columns_;
    p.lengths = lengths_;
    p.query_starts = query_starts_;
    p.queries = queries_;
    p.output = output_;
    p.query_token_stride = p.output_token_stride = kQueryWidth;
    p.query_head_stride = p.output_head_stride = kDim;
    p.item_starts = reinterpret_cast<const std::uint32_t *>(plan_ + places_.item_starts);
    p.items = reinterpret_cast<const kvk_item *>(plan_ + places_.items);
    p.joins = reinterpret_cast<const kvk_join *>(plan_ + places_.joins);
    p.join_count = reinterpret_cast<const std::uint32_t *>(plan_ + places_.join_count);
    p.part_output = part_output_;
    p.part_lse = part_lse_;
    p.status = status_;
    p.scale = 1 / std::sqrt(static_cast<float>(kDim));
    p.window_left = -1;
    p.query_heads = kQueryHeads;
    p.sequences = sizes_.table_rows;
    p.type = KVK_BF16;
    p.tile_rows = KVK_DECODE_ROWS;
    p.thread_blocks = p.merge_thread_blocks = kThreadBlocks;
    return p;
  }

  std::uint32_t blocks_, block_tokens_, columns_ = 0, generation_ = 0;
  kvl_device device_{};
  kvl_device_stream stream_ = {};
  kvl_device_event mark_ = {};
  kvl_split split_ = KVL_SIZED(kvl_split);
  kvl_split_places places_ = KVL_SIZED(kvl_split_places);
  kvl_attend_sizes sizes_ = KVL_SIZED(kvl_attend_sizes);
  std::vector<std::uint32_t> words_;
  Half *pool_, *queries_, *output_, *keys_, *values_;
  kvk_slot *slots_;
  std::uint32_t *lengths_, *query_starts_, *table_;
  unsigned char *plan_;
  float *part_output_, *part_lse_;
  kvk_copy_pair *pair_;
  kvk_status *status_;
};

}  // namespace transformer

#endif
