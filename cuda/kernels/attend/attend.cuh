// The kernel, and the choice of its instance.
#ifndef KVK_ATTEND_ATTEND_CUH
#define KVK_ATTEND_ATTEND_CUH

#include "finish.cuh"

namespace kvk {

// One step of the pipeline for each tile: wait for it, let all threads see it, start on later ones, use it.
template <class S>
KVK_DEVICE void sum_keys(const kvk_attend_params &p, typename S::Shared &shared, const KeyRange &keys,
                         Sums<S> &sums) {
  sums.clear();
  const int tiles = tile_count<S>(keys);
  for (int tile = 0; tile < S::kStages; ++tile) place_tile<S>(p, shared, keys, tile);
  barrier();
  for (int tile = 0; tile < S::kStages - 1; ++tile) fetch_tile<S>(p, shared, tile);
  const int first_key = S::kSharesKeys ? warp_of() * 16 : 0;
  const Queries<S> queries(shared);
  for (int tile = 0; tile < tiles; ++tile) {
    if (!KVK_PLANT(wait_in_loop)) wait<S::kStages - 2>();
    if (!KVK_PLANT(barrier_in_loop)) barrier();
    const int ahead = KVK_PLANT(one_stage_too_far) ? tile + S::kStages : tile + S::kStages - 1;
    fetch_tile<S>(p, shared, ahead);
    place_tile<S>(p, shared, keys, tile + S::kStages);
    const int at = tile % S::kAhead, stage = tile % S::kStages;
    const int32_t tile_key = static_cast<int32_t>(keys.begin) + tile * S::kKeys;
    float scores[S::kWarpKeys / 8][4];
    products<S>(scores, shared, queries, stage, first_key);
    finish_scores<S>(scores, p, shared, at, tile_key, first_key);
    weigh<S>(sums, scores);
    add_values<S>(sums, scores, p, shared, at, stage, first_key);
  }
  wait<0>();
}

template <class S>
KVK_DEVICE KeyRange begin_item(const kvk_attend_params &p, typename S::Shared &shared, const kvk_item &item) {
  const RowTile rows = row_tile(p, item.sequence, item.head, item.first_row);
  load_positions<S>(p, shared, rows, load(&p.lengths[item.sequence]));
  load_queries<S>(p, shared, rows, item.sequence);
  barrier();
  return seen_keys<S>(p, shared, item);
}

// The item is read anew at the end: the sums need its registers meanwhile.
template <class S>
KVK_DEVICE void attend_item(const kvk_attend_params &p, typename S::Shared &shared, const kvk_item *from) {
  const KeyRange keys = begin_item<S>(p, shared, load_item(from));
  if (KVK_PLANT(empty_row) && keys.end <= keys.begin) return;
  Sums<S> sums;
  sum_keys<S>(p, shared, keys, sums);
  leave_sums<S>(sums, shared);
  const kvk_item item = load_item(from);
  write_rows<S>(p, shared, row_tile(p, item.sequence, item.head, item.first_row), item.part);
}

template <class S>
KVK_KERNEL(S::kThreads) void attend(kvk_attend_params p) {
  KVK_SHARED(typename S::Shared, shared);
  const uint32_t end = load(&p.item_starts[block() + 1]);
  for (uint32_t i = load(&p.item_starts[block()]); i < end; ++i) {
    barrier();  // the last item's sums have been read
    attend_item<S>(p, *shared, &p.items[i]);
  }
}

template <class C, int Dim, unsigned Rows>
uint32_t launch_attend(const kvk_attend_params &p, void *run) {
  using S = Shape<C, Dim, Rows>;
  return KVK_LAUNCH(attend<S>, p.thread_blocks, S::kThreads, sizeof(typename S::Shared), run, p);
}

template <class C, int Dim>
uint32_t attend_rows(const kvk_attend_params &p, void *run) {
  switch (p.tile_rows) {
    case KVK_DECODE_ROWS: return launch_attend<C, Dim, KVK_DECODE_ROWS>(p, run);
    case KVK_PREFILL_ROWS: return launch_attend<C, Dim, KVK_PREFILL_ROWS>(p, run);
    default: return KVK_UNSUPPORTED;
  }
}

// A cache of 16 bits is multiplied as it is, so queries must be of its type.
template <int Dim>
uint32_t attend_types(const kvk_attend_params &p, void *run) {
  switch (p.cache.type) {
    case KVK_F16: return p.type == KVK_F16 ? attend_rows<f16, Dim>(p, run) : KVK_UNSUPPORTED;
    case KVK_BF16: return p.type == KVK_BF16 ? attend_rows<bf16, Dim>(p, run) : KVK_UNSUPPORTED;
    case KVK_E4M3: return attend_rows<e4m3, Dim>(p, run);
    case KVK_E5M2: return attend_rows<e5m2, Dim>(p, run);
    case KVK_INT8: return attend_rows<int8, Dim>(p, run);
    default: return KVK_UNSUPPORTED;
  }
}

}  // namespace kvk

#endif
