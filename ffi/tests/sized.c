/* Structs that can grow, from C: what a program of a later version gives and gets, and one that set no size. A program of
 * an earlier version is one whose structs are smaller than the library's: of those there are none before there is a
 * second version, and until then they are cases of ffi/src/sized.rs.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/sized.c target/capi/dist/libkvledger.a -o sized && ./sized
 */
#include "common/check.h"

/* As a later header has them. */
typedef struct later_config {
  kvl_pool_config known;
  uint32_t newer[2];
} later_config;

typedef struct later_admission {
  kvl_admission known;
  uint64_t newer;
} later_admission;

typedef struct later_snapshot {
  kvl_pool_snapshot known;
  uint64_t newer[2];
  uint64_t behind; /* not its own any more */
} later_snapshot;

static kvl_refusal why;

static void is_refused(kvl_status status) {
  REQUIRE(status == KVL_INVALID && why.code == KVL_INVALID && why.argument == KVL_ARGUMENT_SIZE);
  ONES(why);
}

static void a_struct_is_made_with_its_size(void) {
  kvl_geometry geometry = KVL_SIZED(kvl_geometry), zeros;
  REQUIRE(geometry.size == sizeof geometry);
  memset(&zeros, 0, sizeof zeros);
  zeros.size = sizeof zeros;
  REQUIRE(memcmp(&geometry, &zeros, sizeof zeros) == 0);
  ONES(geometry);
  geometry = KVL_SIZED(kvl_geometry);
  REQUIRE(geometry.size == sizeof geometry && geometry.layers == 0 && geometry.scale_group == 0);
}

static void a_size_that_was_not_set_is_refused(const kvl_pool *pool) {
  const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(kvl_pool_config) + 4, 4097, 4104, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    kvl_pool_config config, before;
    size_t bytes = 77;
    ONES(config);
    config.size = sizes[i];
    before = config;
    is_refused(kvl_config(pool, &config, &why));
    is_refused(kvl_config_new(8, BLOCK, 2, 8, &config, &why));
    REQUIRE(memcmp(&config, &before, sizeof config) == 0); /* nothing was written */
    is_refused(kvl_config_bytes(&config, &bytes, &why));
    REQUIRE(bytes == 77);
  }
}

static void a_later_program_gets_zeros(const kvl_pool *pool) {
  later_snapshot now;
  kvl_pool_snapshot usual = KVL_SIZED(kvl_pool_snapshot);
  ONES(now);
  now.known.size = offsetof(later_snapshot, behind);
  OK(kvl_snapshot(pool, &now.known, NULL));
  OK(kvl_snapshot(pool, &usual, NULL));
  REQUIRE(now.known.size == offsetof(later_snapshot, behind));
  REQUIRE(now.known.blocks == BLOCKS && now.known.free == usual.free && now.known.exact == 1);
  REQUIRE(now.newer[0] == 0 && now.newer[1] == 0 && now.behind == UINT64_MAX);
  /* The same goes back in. */
  uint32_t holds;
  OK(kvl_snapshot_holds(&now.known, &holds, NULL));
  REQUIRE(holds == 1);
}

static void a_later_program_asks_for_nothing_new(const kvl_pool *pool) {
  later_config config;
  size_t bytes, usual_bytes;
  kvl_pool_config usual = KVL_SIZED(kvl_pool_config);
  ONES(config);
  config.known.size = sizeof config;
  OK(kvl_config_new(BLOCKS, BLOCK, 8, WIDTH, &config.known, NULL));
  OK(kvl_config_new(BLOCKS, BLOCK, 8, WIDTH, &usual, NULL));
  OK(kvl_config_bytes(&config.known, &bytes, NULL));
  OK(kvl_config_bytes(&usual, &usual_bytes, NULL));
  REQUIRE(bytes == usual_bytes);

  later_admission admission;
  kvl_sequence sequence = opened(pool);
  kvl_admitted admitted;
  ONES(admission);
  admission.known.size = sizeof admission;
  OK(kvl_admission_full(BLOCK, BLOCK, &admission.known, NULL));
  REQUIRE(admission.newer == 0);
  OK(kvl_admit(pool, sequence, &admission.known, &admitted, NULL));
  REQUIRE(admitted.promised == 2);
  ended(pool, sequence);
}

static void what_is_not_known_here_is_refused(const kvl_pool *pool) {
  later_config config;
  size_t bytes;
  memset(&config, 0, sizeof config);
  config.known = KVL_SIZED(kvl_pool_config);
  config.known.size = sizeof config;
  OK(kvl_config_new(BLOCKS, BLOCK, 8, WIDTH, &config.known, NULL));
  config.newer[1] = 1;
  is_refused(kvl_config_check(&config.known, &why));
  is_refused(kvl_config_bytes(&config.known, &bytes, &why));

  /* Also where a struct is asked for through another one. */
  later_admission admission;
  kvl_joint joint;
  kvl_proposal proposal;
  kvl_admitted admitted;
  kvl_rank rank;
  kvl_vote vote;
  size_t at = 99;
  kvl_sequence sequence = opened(pool);
  memset(&admission, 0, sizeof admission);
  admission.known = full(BLOCK, BLOCK);
  admission.known.size = sizeof admission;
  admission.newer = UINT64_C(1) << 63;
  memset(&joint, 0, sizeof joint);
  joint.pool = pool;
  joint.sequence = sequence;
  joint.admission = &admission.known;
  is_refused(kvl_admit_together(&joint, 1, &admitted, &at, &why));
  REQUIRE(at == 0);
  joint.admission = NULL;
  REQUIRE(kvl_admit_together(&joint, 1, &admitted, &at, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_POINTER);
  memset(&proposal, 0, sizeof proposal);
  proposal.number = 1;
  proposal.admission = &admission.known;
  OK(kvl_rank_new(pool, 0, 0, &rank, NULL));
  is_refused(kvl_rank_vote(&rank, sequence, &proposal, NULL, 0, &vote, &why));
  admission.newer = 0;
  OK(kvl_rank_vote(&rank, sequence, &proposal, NULL, 0, &vote, NULL));
  REQUIRE(vote.refusal.code == KVL_OK && vote.needed == 2);
  OK(kvl_rank_abort(&rank, 1, NULL));
  ended(pool, sequence);
}

/* A field of a later version may come to be there: nothing else may be there now. */
static void reserved_words_are_0(const kvl_pool *pool) {
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  kvl_split split = KVL_SIZED(kvl_split);
  kvl_domain domain = KVL_SIZED(kvl_domain);
  kvl_group_state group;
  kvl_identity_key key;
  kvl_identity root;
  size_t bytes;
  ONES(config);
  config.size = sizeof config;
  OK(kvl_config(pool, &config, NULL));
  REQUIRE(config.reserved == 0);
  config.reserved = 1;
  is_refused(kvl_config_bytes(&config, &bytes, &why));
  config.reserved = 0;
  OK(kvl_config_bytes(&config, &bytes, &why));

  ONES(split);
  split.size = sizeof split;
  OK(kvl_split_decode(2, 4, 8, 16, 1024, &split, NULL));
  REQUIRE(split.reserved == 0);
  OK(kvl_split_check(&split, NULL));
  split.reserved = UINT32_MAX;
  is_refused(kvl_split_check(&split, &why));

  OK(kvl_identity_key_new(1, 2, &key, NULL));
  OK(kvl_identity_key_root(&key, &domain, &root, NULL));
  domain.reserved = 1;
  is_refused(kvl_identity_key_root(&key, &domain, &root, &why));

  ONES(group);
  group.size = sizeof group;
  OK(kvl_group_snapshot(pool, 0, &group, NULL));
  REQUIRE(group.reserved == 0);
}

/* As far as the size says, and not only as far as this library writes. */
static void outputs_over_each_other_are_seen_by_their_sizes(const kvl_pool *pool) {
  union {
    later_snapshot snapshot;
    struct {
      kvl_pool_snapshot known;
      kvl_refusal refusal;
    } beside;
  } place;
  ONES(place);
  place.snapshot.known.size = sizeof(kvl_pool_snapshot);
  OK(kvl_snapshot(pool, &place.snapshot.known, &place.beside.refusal));
  place.snapshot.known.size = sizeof(kvl_pool_snapshot) + sizeof(uint64_t);
  place.snapshot.known.blocks = 77;
  REQUIRE(kvl_snapshot(pool, &place.snapshot.known, &place.beside.refusal) == KVL_INVALID);
  REQUIRE(place.snapshot.known.blocks == 77 && place.snapshot.newer[0] == UINT64_MAX); /* neither is written */
}

int main(void) {
  kvl_pool pool = pool_of(1);
  ONES(why);
  a_struct_is_made_with_its_size();
  a_size_that_was_not_set_is_refused(&pool);
  a_later_program_gets_zeros(&pool);
  a_later_program_asks_for_nothing_new(&pool);
  what_is_not_known_here_is_refused(&pool);
  reserved_words_are_0(&pool);
  outputs_over_each_other_are_seen_by_their_sizes(&pool);
  at_rest(&pool);
  puts("programs and libraries of different versions");
  free_pools();
  return 0;
}
