/* One case for each result that a function of a device can answer, named after it.
 *
 *   cc -std=c11 -I target/installed/include ffi/tests/device.c -L target/installed/lib -lkvledger_cuda -lkvledger -o device
 *
 * KVL_DEVICE_NUMBER is not here: it is what CUDA says that has no number of ours, and only a GPU that fails says so. */
#include "common/check.h"
#include <kvledger_cuda.h>

static kvl_device_error why;
static kvl_device device; /* the CPU device, as it is without options */
static kvl_device_stream stream;

/* The answer, and words for it that end. */
static void is_answered(kvl_device_status status, kvl_device_status expected) {
  REQUIRE(status == expected && why.status == expected);
  REQUIRE(why.text[0] != '\0' && memchr(why.text, '\0', sizeof why.text) != NULL);
  ONES(why);
}

static kvl_device_address memory(uint32_t space, size_t bytes) {
  kvl_device_address address;
  OK(kvl_device_allocate(device, space, bytes, &address, NULL));
  return address;
}

static void ok(void) {
  const kvl_device_error before = why;
  OK(kvl_device_check(device, &why));
  REQUIRE(memcmp(&why, &before, sizeof why) == 0); /* written on failure only */
}

/* Which of the three depends on how the library was made and where it runs. */
static void not_built_or_no_driver_or_no_device(void) {
  kvl_device none = {77};
  const kvl_device_status status = kvl_device_open_cuda(1000, &none, &why);
  REQUIRE(status == KVL_DEVICE_NOT_BUILT || status == KVL_DEVICE_NO_DRIVER || status == KVL_DEVICE_NO_DEVICE);
  is_answered(status, status);
  REQUIRE(none.id == 77);
}

static void memory_is_not_there(void) {
  kvl_device_address address = 77;
  is_answered(kvl_device_allocate(device, KVL_SPACE_DEVICE, (size_t)1 << 62, &address, &why), KVL_DEVICE_MEMORY);
  REQUIRE(address == 77);
}

static void range(void) {
  const kvl_device_address from = memory(KVL_SPACE_DEVICE, 64), to = memory(KVL_SPACE_DEVICE, 64);
  is_answered(kvl_device_copy(device, stream, to, from + 1, 64, &why), KVL_DEVICE_RANGE);
  is_answered(kvl_device_set(device, stream, to + 32, 0, 33, &why), KVL_DEVICE_RANGE);
  OK(kvl_device_copy(device, stream, to, from + 1, 63, NULL));
  OK(kvl_device_free(device, from, NULL));
  OK(kvl_device_free(device, to, NULL));
}

static void foreign(void) {
  const kvl_device_address address = memory(KVL_SPACE_DEVICE, 64);
  OK(kvl_device_free(device, address, NULL));
  is_answered(kvl_device_free(device, address, &why), KVL_DEVICE_FOREIGN);
  is_answered(kvl_device_set(device, stream, address, 0, 1, &why), KVL_DEVICE_FOREIGN);
}

static void elsewhere(void) {
  const kvl_device_address address = memory(KVL_SPACE_DEVICE, 64), pinned = memory(KVL_SPACE_PINNED, 64);
  void *host = NULL;
  is_answered(kvl_device_host_pointer(device, address, &host, &why), KVL_DEVICE_ELSEWHERE);
  REQUIRE(host == NULL);
  OK(kvl_device_host_pointer(device, pinned, &host, NULL));
  REQUIRE(host != NULL);
  OK(kvl_device_free(device, address, NULL));
  OK(kvl_device_free(device, pinned, NULL));
}

static void handle(void) {
  kvl_device_stream over, none = {0};
  kvl_device other, zeros = {0};
  OK(kvl_device_open_stream(device, &over, NULL));
  OK(kvl_device_close_stream(device, over, NULL));
  is_answered(kvl_device_close_stream(device, over, &why), KVL_DEVICE_HANDLE);
  is_answered(kvl_device_synchronize_stream(device, none, &why), KVL_DEVICE_HANDLE);
  OK(kvl_device_open_cpu(NULL, &other, NULL));
  is_answered(kvl_device_synchronize_stream(other, stream, &why), KVL_DEVICE_HANDLE);
  OK(kvl_device_close(other, NULL));
  is_answered(kvl_device_close(other, &why), KVL_DEVICE_HANDLE);
  is_answered(kvl_device_check(zeros, &why), KVL_DEVICE_HANDLE);
}

static void refused(void) {
  kvk_append_params params;
  memset(&params, 0, sizeof params);
  is_answered(kvl_device_append(device, stream, &params, &why), KVL_DEVICE_REFUSED);
}

static void argument(void) {
  kvl_cpu_options options = KVL_SIZED(kvl_cpu_options);
  kvl_device none = {77};
  is_answered(kvl_device_open_stream(device, NULL, &why), KVL_DEVICE_ARGUMENT);
  options.order = KVL_ORDER_RANDOM + 1;
  is_answered(kvl_device_open_cpu(&options, &none, &why), KVL_DEVICE_ARGUMENT);
  options = KVL_SIZED(kvl_cpu_options);
  options.size = 0;
  is_answered(kvl_device_open_cpu(&options, &none, &why), KVL_DEVICE_ARGUMENT);
  REQUIRE(none.id == 77);
}

static void overlap(void) {
  const kvl_device_address address = memory(KVL_SPACE_DEVICE, 64);
  is_answered(kvl_device_copy(device, stream, address, address + 16, 32, &why), KVL_DEVICE_OVERLAP);
  OK(kvl_device_copy(device, stream, address, address + 32, 32, NULL));
  OK(kvl_device_free(device, address, NULL));
}

/* A device on which so much goes wrong, with memory and a stream; the chances are of 65,536. */
static kvl_device unlucky(uint32_t fail_enqueue, uint32_t fail_work, kvl_device_stream *its, kvl_device_address *place) {
  kvl_cpu_options options = KVL_SIZED(kvl_cpu_options);
  kvl_device made;
  options.seed = 1;
  options.fail_enqueue = fail_enqueue;
  options.fail_work = fail_work;
  OK(kvl_device_open_cpu(&options, &made, NULL));
  OK(kvl_device_open_stream(made, its, NULL));
  OK(kvl_device_allocate(made, KVL_SPACE_DEVICE, 64, place, NULL));
  return made;
}

/* The next try may succeed, and the device is not lost. */
static void injected(void) {
  kvl_device_stream its;
  kvl_device_address place;
  const kvl_device made = unlucky(32768, 0, &its, &place);
  int done = 0, failed = 0;
  while (done == 0 || failed == 0) {
    const kvl_device_status status = kvl_device_set(made, its, place, 0, 64, &why);
    if (status == KVL_DEVICE_OK) {
      done++;
    } else {
      is_answered(status, KVL_DEVICE_INJECTED);
      failed++;
    }
  }
  OK(kvl_device_check(made, NULL));
  OK(kvl_device_close(made, NULL));
}

/* By work that failed: everything is answered so from then on, but closing. */
static void lost(void) {
  kvl_device_stream its;
  kvl_device_event event;
  kvl_device_address place;
  const kvl_device made = unlucky(0, 65535, &its, &place);
  OK(kvl_device_open_event(made, &event, NULL));
  kvl_device_status status = KVL_DEVICE_OK;
  while (status == KVL_DEVICE_OK) {
    status = kvl_device_set(made, its, place, 0, 64, &why);
    if (status == KVL_DEVICE_OK) status = kvl_device_synchronize_stream(made, its, &why);
  }
  is_answered(status, KVL_DEVICE_LOST);
  is_answered(kvl_device_check(made, &why), KVL_DEVICE_LOST);
  is_answered(kvl_device_record_event(made, event, its, &why), KVL_DEVICE_LOST);
  is_answered(kvl_device_wait_event(made, its, event, &why), KVL_DEVICE_LOST);
  is_answered(kvl_device_allocate(made, KVL_SPACE_DEVICE, 64, &place, &why), KVL_DEVICE_LOST);
  OK(kvl_device_close(made, NULL));
}

int main(void) {
  ONES(why);
  OK(kvl_device_open_cpu(NULL, &device, NULL));
  OK(kvl_device_open_stream(device, &stream, NULL));
  ok();
  not_built_or_no_driver_or_no_device();
  memory_is_not_there();
  range();
  foreign();
  elsewhere();
  handle();
  refused();
  argument();
  overlap();
  injected();
  lost();
  OK(kvl_device_close(device, NULL));
  puts("each result of a device, and why");
  return 0;
}
