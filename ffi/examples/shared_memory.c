/* One pool, two processes: a scheduler and a worker in memory of shm_open, each with its own view, mapped where its
 * process likes. Both admit, grow and end requests at once; what one takes the other sees.
 *
 *   ffi/archive.sh && cc -std=c11 -I ffi/include ffi/examples/shared_memory.c target/capi/dist/libkvledger.a -o shared
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <kvledger.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { BLOCKS = 128, BLOCK = 16, SEQUENCES = 16, ROUNDS = 20000, EACH = 4, TOKENS = 5 * BLOCK };

/* Where the parts are in the shared memory: the pool first, which wants the alignment, then its table. */
typedef struct {
  size_t pool_bytes;
  size_t table_entries;
  size_t bytes;
} layout;

static layout layout_of(const kvl_pool_config *config) {
  layout parts;
  REQUIRE(kvl_config_bytes(config, &parts.pool_bytes, NULL) == KVL_OK);
  REQUIRE(kvl_config_table_entries(config, &parts.table_entries, NULL) == KVL_OK);
  parts.bytes = parts.pool_bytes + parts.table_entries * sizeof(uint32_t);
  return parts;
}

static char *map(int file, size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(memory != MAP_FAILED);
  return (char *)memory;
}

static uint32_t *table_in(char *memory, const layout *parts) { return (uint32_t *)(void *)(memory + parts->pool_bytes); }

/* Up to four requests at a time, of six blocks each, on this process's own stream. */
static void serve(const kvl_pool *pool, uint32_t stream) {
  kvl_sequence mine[EACH];
  uint32_t count = 0;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    kvl_admission admission = KVL_SIZED(kvl_admission);
    kvl_admitted admitted;
    kvl_advanced advanced;
    kvl_released released;
    uint64_t epoch, frontier;
    if (count < EACH) {
      REQUIRE(kvl_open(pool, &mine[count], NULL) == KVL_OK);
      REQUIRE(kvl_admission_full(TOKENS, BLOCK, &admission, NULL) == KVL_OK);
      admission.streams = KVL_STREAMS_ONE(stream); /* the other process's work never touches its blocks */
      /* 2 * 4 * 6 blocks are fewer than there are, but blocks that retire are committed until their step is over. */
      kvl_status status = kvl_admit(pool, mine[count], &admission, &admitted, NULL);
      REQUIRE(status == KVL_OK || status == KVL_RETRY_AFTER || status == KVL_WOULD_BLOCK);
      if (status == KVL_OK) REQUIRE(kvl_advance(pool, mine[count++], TOKENS, &advanced, NULL) == KVL_OK);
      else REQUIRE(kvl_end(pool, mine[count], &released, NULL) == KVL_OK);
    }
    REQUIRE(kvl_submit(pool, stream, &epoch, NULL) == KVL_OK);
    if (count > 0 && round % 3 == 0) {
      REQUIRE(kvl_advance(pool, mine[0], 1, &advanced, NULL) == KVL_OK && advanced.taken <= 1);
      REQUIRE(kvl_end(pool, mine[0], &released, NULL) == KVL_OK);
      mine[0] = mine[--count];
    }
    REQUIRE(kvl_complete(pool, stream, epoch, 0, &frontier, NULL) == KVL_OK);
  }
  while (count > 0) {
    kvl_released released;
    REQUIRE(kvl_end(pool, mine[--count], &released, NULL) == KVL_OK);
  }
}

/* The worker finds the pool in the memory: it is told how large that is, and nothing else. */
static void worker(const char *name, const kvl_pool_config *config) {
  layout parts = layout_of(config);
  int file = shm_open(name, O_RDWR, 0600);
  REQUIRE(file >= 0);
  char *memory = map(file, parts.bytes);
  kvl_pool pool;
  kvl_pool_config found = KVL_SIZED(kvl_pool_config);
  REQUIRE(kvl_attach(memory, parts.pool_bytes, table_in(memory, &parts), parts.table_entries, &pool, NULL) == KVL_OK);
  REQUIRE(kvl_config(&pool, &found, NULL) == KVL_OK && found.blocks == BLOCKS && found.streams == 2);
  serve(&pool, 1);
  munmap(memory, parts.bytes);
  close(file);
}

int main(void) {
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  REQUIRE(kvl_config_new(BLOCKS, BLOCK, SEQUENCES, 8, &config, NULL) == KVL_OK);
  config.streams = 2;
  layout parts = layout_of(&config);

  char name[64];
  snprintf(name, sizeof name, "/kvledger-example-%ld", (long)getpid());
  int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  REQUIRE(file >= 0 && ftruncate(file, (off_t)parts.bytes) == 0);
  char *memory = map(file, parts.bytes);
  kvl_pool pool, none;
  kvl_refusal refusal;
  /* Nobody has made a pool of it yet. */
  REQUIRE(kvl_attach(memory, parts.pool_bytes, table_in(memory, &parts), parts.table_entries, &none, &refusal) ==
          KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_HEADER);
  REQUIRE(kvl_init(memory, parts.pool_bytes, table_in(memory, &parts), parts.table_entries, &config, &pool, NULL) ==
          KVL_OK);

  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    worker(name, &config);
    exit(0);
  }
  serve(&pool, 0);
  int status;
  REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  shm_unlink(name);

  kvl_pool_snapshot now = KVL_SIZED(kvl_pool_snapshot);
  kvl_fault fault;
  REQUIRE(kvl_snapshot(&pool, &now, NULL) == KVL_OK && now.exact == 1);
  REQUIRE(now.free == BLOCKS && now.committed == 0 && now.promised == 0 && now.sequences == 0);
  REQUIRE(now.newest_epoch == 2 * ROUNDS && now.frontier == now.newest_epoch);
  REQUIRE(kvl_validate(&pool, &fault, NULL) == KVL_OK && fault.invariant == 0);
  munmap(memory, parts.bytes);
  close(file);
  printf("two processes, %d steps, one pool: every block is free again\n", 2 * ROUNDS);
  return 0;
}
