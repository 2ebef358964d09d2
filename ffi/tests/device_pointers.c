/* What the device functions answer besides: nothing is written over `error` but why, and copies of the host are between
 * ranges that can be and are apart. On the CPU device.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/device_pointers.c libkvledger_cuda.a -lpthread -ldl -lm -o pointers && ./pointers
 */
#include <kvledger_cuda.h>

#include "common/check.h"

enum { BYTES = 4096, PATTERN = 0xA5 };

/* Of every byte. */
static void all_are(const void *place, int value, size_t bytes) {
  size_t i;
  for (i = 0; i < bytes; i++) REQUIRE(((const unsigned char *)place)[i] == value);
}

static void an_error_is_not_written_over_an_output(kvl_device device, kvl_device_stream stream) {
  kvl_device_error error, *inside;
  kvl_device_address address = 0;
  char bytes[sizeof error + 64];

  memset(&error, PATTERN, sizeof error);
  /* It would succeed, and it would be refused. */
  REQUIRE(kvl_device_allocate(device, 0, 64, (kvl_device_address *)(void *)&error.text, &error) == KVL_DEVICE_ARGUMENT);
  REQUIRE(kvl_device_allocate(device, 9, 64, (kvl_device_address *)(void *)&error, &error) == KVL_DEVICE_ARGUMENT);
  all_are(&error, PATTERN, sizeof error);
  inside = (kvl_device_error *)(void *)((char *)&error + 1);
  REQUIRE(kvl_device_check(device, inside) == KVL_DEVICE_ARGUMENT);
  all_are(&error, PATTERN, sizeof error);

  memset(bytes, PATTERN, sizeof bytes);
  OK(kvl_device_allocate(device, 0, 64, &address, &error));
  inside = (kvl_device_error *)(void *)(bytes + (8 - (size_t)bytes % 8) % 8);
  REQUIRE(kvl_device_read(device, stream, bytes, address, 64, inside) == KVL_DEVICE_ARGUMENT);
  all_are(bytes, PATTERN, sizeof bytes);
  /* No bytes are over nothing. */
  OK(kvl_device_read(device, stream, inside->text, address, 0, inside));
  OK(kvl_device_free(device, address, NULL));

  /* A struct whose size was not set is as large as this version has it. */
  union {
    kvl_device_facts facts;
    kvl_device_error error;
  } place;
  memset(&place, 0, sizeof place);
  REQUIRE(kvl_device_get_facts(device, &place.facts, &place.error) == KVL_DEVICE_ARGUMENT);
  all_are(&place, 0, sizeof place);
}

static void a_copy_of_pinned_memory_to_itself_is_refused(kvl_device device, kvl_device_stream stream) {
  kvl_device_error error;
  kvl_device_address address;
  void *host;
  char *middle;

  OK(kvl_device_allocate(device, KVL_SPACE_PINNED, BYTES, &address, NULL));
  OK(kvl_device_host_pointer(device, address, &host, NULL));
  middle = (char *)host + BYTES / 2;
  memset(host, 1, BYTES / 2);
  memset(middle, 2, BYTES / 2);
  REQUIRE(kvl_device_read(device, stream, middle - 8, address, BYTES / 2, &error) == KVL_DEVICE_OVERLAP);
  REQUIRE(kvl_device_write(device, stream, address + 8, host, 16, &error) == KVL_DEVICE_OVERLAP);
  all_are(middle, 2, BYTES / 2);
  OK(kvl_device_read(device, stream, middle, address, BYTES / 2, NULL));
  all_are(middle, 1, BYTES / 2);
  OK(kvl_device_write(device, stream, address, host, 0, NULL));
  OK(kvl_device_free(device, address, NULL));
}

static void more_bytes_than_there_can_be_are_refused(kvl_device device, kvl_device_stream stream) {
  static const size_t counts[3] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX - 7};
  kvl_device_error error;
  kvl_device_address address;
  char byte = 7;
  size_t i;

  OK(kvl_device_allocate(device, KVL_SPACE_DEVICE, BYTES, &address, NULL));
  for (i = 0; i < 3; i++) {
    REQUIRE(kvl_device_write(device, stream, address, &byte, counts[i], &error) == KVL_DEVICE_ARGUMENT);
    REQUIRE(strncmp(error.text, "bytes", 5) == 0);
    REQUIRE(kvl_device_read(device, stream, &byte, address, counts[i], NULL) == KVL_DEVICE_ARGUMENT);
    REQUIRE(kvl_device_set(device, stream, address, 0, counts[i], NULL) == KVL_DEVICE_RANGE);
    REQUIRE(kvl_device_copy(device, stream, address, address, counts[i], NULL) == KVL_DEVICE_RANGE);
  }
  REQUIRE(byte == 7);
  OK(kvl_device_free(device, address, NULL));
}

int main(void) {
  kvl_device device;
  kvl_device_stream stream;
  OK(kvl_device_open_cpu(NULL, &device, NULL));
  OK(kvl_device_open_stream(device, &stream, NULL));
  an_error_is_not_written_over_an_output(device, stream);
  a_copy_of_pinned_memory_to_itself_is_refused(device, stream);
  more_bytes_than_there_can_be_are_refused(device, stream);
  OK(kvl_device_close(device, NULL));
  return 0;
}
