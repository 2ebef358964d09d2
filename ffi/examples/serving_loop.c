/* Continuous batching: requests come faster than the pool can hold them, are admitted when there is room for their
 * worst case, generate side by side, finish, or are cancelled; steps are submitted one ahead of the device. No request
 * that was admitted ever fails for lack of blocks. Every number is asserted.
 *
 *   ffi/archive.sh && cc -std=c11 -I ffi/include ffi/examples/serving_loop.c target/capi/dist/libkvledger.a -o loop
 */
#include <kvledger.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { BLOCKS = 64, BLOCK = 16, RUNNING = 12, REQUESTS = 300, HUGE_PROMPT = BLOCKS * BLOCK, IN_FLIGHT = 2 };

typedef struct {
  uint32_t prompt;
  uint32_t output;
  uint32_t cancelled_at; /* by its user, after so many tokens; 0: never */
} request;

typedef struct {
  kvl_sequence sequence;
  request wants;
  uint32_t generated;
} running;

static kvl_pool pool;
static running batch[RUNNING];
static uint32_t batch_count;

/* Steps that the device has not finished, the oldest first. */
static uint64_t in_flight[IN_FLIGHT];
static uint32_t in_flight_count;
static uint64_t frontier; /* no older step, nor this one, is in flight */

/* When the waiting request is worth asking for again: once one of these differs, or is reached. */
static struct {
  uint64_t releases, after;
} refused;

static struct {
  uint32_t finished, cancelled, rejected, waits, steps;
} seen;

static uint32_t random_below(uint32_t limit) {
  static uint64_t state = 20240229;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % limit;
}

static request next_request(uint32_t number) {
  request wants = {1 + random_below(200), 1 + random_below(120), 0};
  if (number % 10 == 9) wants.cancelled_at = 1 + random_below(wants.output);
  if (number % 100 == 50) wants.prompt = HUGE_PROMPT; /* more than the pool will ever hold */
  return wants;
}

/* The oldest step is over: as a CUDA event would tell. */
static void complete_oldest(void) {
  REQUIRE(in_flight_count > 0);
  REQUIRE(kvl_complete(&pool, 0, in_flight[0], 0, &frontier, NULL) == KVL_OK);
  for (uint32_t i = 1; i < in_flight_count; i++) in_flight[i - 1] = in_flight[i];
  in_flight_count--;
}

/* Asking again is of no use before blocks or promises have come back, or the step is over that the answer named. */
static int may_have_changed(void) {
  uint64_t releases;
  REQUIRE(kvl_release_number(&pool, &releases, NULL) == KVL_OK);
  return releases != refused.releases || frontier >= refused.after;
}

/* Whether the request is no longer waiting: it runs now, or can never. */
static int admitted_or_rejected(request wants) {
  kvl_sequence sequence;
  kvl_admission admission = KVL_SIZED(kvl_admission);
  kvl_admitted admitted;
  kvl_advanced advanced;
  kvl_refusal refusal;
  /* Before it is asked: what comes back between the question and the answer is not overlooked. */
  REQUIRE(kvl_release_number(&pool, &refused.releases, NULL) == KVL_OK);
  refused.after = 0;
  REQUIRE(kvl_open(&pool, &sequence, NULL) == KVL_OK);
  REQUIRE(kvl_admission_full(wants.prompt, wants.output, &admission, NULL) == KVL_OK);
  switch (kvl_admit(&pool, sequence, &admission, &admitted, &refusal)) {
    case KVL_OK:
      /* Promised for its whole life. The step that is built now computes the prompt. */
      REQUIRE(kvl_advance(&pool, sequence, wants.prompt, &advanced, NULL) == KVL_OK);
      batch[batch_count].sequence = sequence;
      batch[batch_count].wants = wants;
      batch[batch_count++].generated = 0;
      return 1;
    case KVL_NEVER_FITS:
      REQUIRE(refusal.needed > refusal.ceiling && wants.prompt == HUGE_PROMPT);
      seen.rejected++;
      break;
    case KVL_RETRY_AFTER: /* when that step is over, there are blocks enough */
      REQUIRE(refusal.after >= in_flight[0]);
      refused.after = refusal.after;
      seen.waits++;
      break;
    case KVL_WOULD_BLOCK: /* when a request ends */
      REQUIRE(refusal.short_by > 0);
      refused.after = UINT64_MAX;
      seen.waits++;
      break;
    default:
      REQUIRE(!"an answer that kvl_admit does not have");
  }
  kvl_released released;
  REQUIRE(kvl_end(&pool, sequence, &released, NULL) == KVL_OK);
  return refusal.code == KVL_NEVER_FITS;
}

static void leave(uint32_t at) {
  kvl_released released;
  REQUIRE(kvl_end(&pool, batch[at].sequence, &released, NULL) == KVL_OK);
  /* Blocks that a step in flight reads come back when it is over, and not a moment before. */
  REQUIRE(released.retiring == 0 || released.after == in_flight[in_flight_count - 1]);
  batch[at] = batch[--batch_count];
}

/* One token for everybody. The row that is refused is the one that was cancelled meanwhile. */
static void generate(void) {
  kvl_step steps[RUNNING];
  uint32_t answers[RUNNING], changed[RUNNING];
  kvl_batch done;
  for (uint32_t i = 0; i < batch_count; i++) {
    steps[i].sequence = batch[i].sequence;
    steps[i].tokens = 1;
    if (batch[i].generated == batch[i].wants.cancelled_at && batch[i].wants.cancelled_at != 0)
      REQUIRE(kvl_cancel(&pool, batch[i].sequence, NULL) == KVL_OK); /* by another thread, in a server */
  }
  REQUIRE(kvl_advance_many(&pool, steps, batch_count, answers, changed, &done, NULL) == KVL_OK);
  for (uint32_t i = batch_count; i-- > 0;) {
    REQUIRE(answers[i] == KVL_OK || answers[i] == KVL_CANCELLED); /* a promise is kept: nothing else can happen */
    if (answers[i] == KVL_OK && ++batch[i].generated < batch[i].wants.output) continue;
    if (answers[i] == KVL_OK) seen.finished++;
    else seen.cancelled++;
    leave(i);
  }
}

static void step(void) {
  if (in_flight_count == IN_FLIGHT) complete_oldest();
  REQUIRE(kvl_submit(&pool, 0, &in_flight[in_flight_count++], NULL) == KVL_OK);
  /* Here the kernels are launched, over the rows of the batch. */
  seen.steps++;
}

int main(void) {
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  size_t bytes, entries;
  REQUIRE(kvl_config_new(BLOCKS, BLOCK, RUNNING + 1, BLOCKS, &config, NULL) == KVL_OK);
  REQUIRE(kvl_config_bytes(&config, &bytes, NULL) == KVL_OK);
  REQUIRE(kvl_config_table_entries(&config, &entries, NULL) == KVL_OK);
  void *memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  uint32_t *table = (uint32_t *)calloc(entries, sizeof *table);
  REQUIRE(memory != NULL && table != NULL);
  REQUIRE(kvl_init(memory, bytes, table, entries, &config, &pool, NULL) == KVL_OK);

  uint32_t arrived = 0;
  request waiting = next_request(arrived);
  while (arrived < REQUESTS || batch_count > 0) {
    while (arrived < REQUESTS && batch_count < RUNNING && may_have_changed() && admitted_or_rejected(waiting))
      if (++arrived < REQUESTS) waiting = next_request(arrived);
    step();
    generate();
  }
  while (in_flight_count > 0) complete_oldest();

  kvl_pool_snapshot now = KVL_SIZED(kvl_pool_snapshot);
  REQUIRE(kvl_snapshot(&pool, &now, NULL) == KVL_OK && now.exact == 1);
  REQUIRE(now.committed == 0 && now.promised == 0 && now.free == BLOCKS && now.sequences == 0);
  kvl_fault fault;
  REQUIRE(kvl_validate(&pool, &fault, NULL) == KVL_OK && fault.invariant == 0);
  REQUIRE(seen.rejected == 3 && seen.finished + seen.cancelled + seen.rejected == REQUESTS);
  REQUIRE(seen.cancelled > 0 && seen.waits > 0);
  printf("%u finished, %u cancelled, %u rejected in %u steps; %u times a request had to wait\n", seen.finished,
         seen.cancelled, seen.rejected, seen.steps, seen.waits);
  free(table);
  free(memory);
  return 0;
}
