// Launches on several OS threads at once, each with its own blocks, some with errors; threads come and go.
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

namespace {

constexpr uint32_t kThreads = 64, kBlocks = 4, kRounds = 20, kWorkers = 4;

struct Params {
  uint32_t *words;
  uint32_t number;
  bool deadlock;
};

KVK_KERNEL(kThreads) void turn(Params p) {
  KVK_SHARED(uint32_t, shared);
  shared[kvk::thread()] = p.number + kvk::thread();
  if (p.deadlock && kvk::thread() == 7) return;
  kvk::barrier();
  kvk::store(&p.words[kvk::block() * kThreads + kvk::thread()], shared[kThreads - 1 - kvk::thread()]);
}

struct Worker {
  uint32_t number;
  uint32_t wrong;
};

void *work(void *argument) {
  Worker &worker = *static_cast<Worker *>(argument);
  for (uint32_t round = 0; round < kRounds; round++) {
    uint32_t words[kBlocks * kThreads] = {};
    kvk_run run = run_of(kSchedules[round % 5]);
    const bool deadlock = round % 3 == 2;
    const Params p{words, worker.number * 1000 + round, deadlock};
    const uint32_t error = KVK_LAUNCH(turn, kBlocks, kThreads, kThreads * 4, &run, p);
    if (error != (deadlock ? KVK_CPU_DEADLOCK : 0)) worker.wrong++;
    if (deadlock) continue;
    for (uint32_t i = 0; i < kBlocks * kThreads; i++) worker.wrong += words[i] != p.number + kThreads - 1 - i % kThreads;
  }
  return nullptr;
}

}  // namespace

// How often all threads come and go: 10 times, or as told.
int main(int argc, char **argv) {
  const int times = argc < 2 ? 10 : atoi(argv[1]);
  for (int time = 0; time < times; time++) {
    pthread_t threads[kWorkers];
    Worker workers[kWorkers];
    for (uint32_t i = 0; i < kWorkers; i++) {
      workers[i] = Worker{i, 0};
      CHECK_EQUAL(static_cast<uint64_t>(pthread_create(&threads[i], nullptr, work, &workers[i])), 0);
    }
    for (uint32_t i = 0; i < kWorkers; i++) {
      pthread_join(threads[i], nullptr);
      CHECK_EQUAL(workers[i].wrong, 0);
    }
  }
  return checked();
}
