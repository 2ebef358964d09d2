/* A transformer that serves 24 requests over the ledger and its kernels, and the same model alone, one request at a time,
 * with keys and values in contiguous memory. The tokens must be equal, all of them, whatever was shared, copied on
 * write, preempted and computed again meanwhile.
 *
 *   ffi/install.sh installed cuda
 *   c++ -std=c++17 -O2 -I installed/include ffi/examples/transformer/main.cpp installed/lib/libkvledger_cuda.a \
 *       installed/lib/libkvledger.a -lpthread -ldl -lm -o transformer
 */
#include "engine.hpp"

using namespace transformer;

namespace {

constexpr std::uint32_t kRequests = 24, kLongest = 160;

/* Requests of three kinds, by their system prompts. */
std::vector<Request> requests() {
  std::mt19937 source(7);
  const auto random = [&source] { return static_cast<std::uint32_t>(source()); };
  std::vector<std::vector<std::uint32_t>> systems(3);
  for (auto &system : systems)
    for (std::uint32_t i = 0; i < 21; ++i) system.push_back(random() % kVocabulary);
  std::vector<Request> all;
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    Request request{systems[i % 3], 8 + random() % 40, i % 2 == 1 ? 2u : 1u};
    for (std::uint32_t question = 3 + random() % 30; question > 0; --question)
      request.prompt.push_back(random() % kVocabulary);
    all.push_back(request);
  }
  return all;
}

/* One sample of one request, alone: one block is as long as the longest sequence. */
std::vector<std::uint32_t> alone(const Model &model, Attention &attention, const Request &request, bool second) {
  std::vector<std::uint32_t> tokens = request.prompt;
  std::uint32_t computed = 0;
  for (std::uint32_t i = 0; i < request.output; ++i) {
    const auto length = static_cast<std::uint32_t>(tokens.size());
    Batch batch{{1}, {length}, {0, length - computed}, {}, 1};
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = computed; place < length; ++place) {
      batch.slots.push_back({1, place});
      places.push_back(place);
    }
    attention.begin(batch);
    const std::vector<std::uint32_t> now(tokens.begin() + computed, tokens.end());
    const auto logits = model.run(now, places, [&](std::uint32_t layer, Heads &heads) { attention.run(layer, heads); });
    attention.finish();
    computed = length;
    tokens.push_back(choose(logits.back(), second && i == 0));
  }
  return tokens;
}

}  // namespace

int main() {
  const Model model(42);
  const auto all = requests();
  Engine engine(model);
  for (std::uint32_t i = 0; i < kRequests; ++i) engine.add(i, all[i]);
  const auto served = engine.serve();

  Attention contiguous(1, kLongest, 1, kLongest, kLongest);
  std::size_t samples = 0, tokens = 0;
  for (std::uint32_t i = 0; i < kRequests; ++i)
    for (std::uint32_t sample = 0; sample < all[i].samples; ++sample) {
      const auto found = served.find({i, sample});
      REQUIRE(found != served.end());
      REQUIRE(found->second == alone(model, contiguous, all[i], sample == 1));
      samples++;
      tokens += all[i].output;
    }
  REQUIRE(samples == served.size());

  const Counts &counts = engine.counts();
  REQUIRE(counts.hits > 0 && counts.forks > 0 && counts.copies > 0 && counts.preemptions > 0 && counts.most_running > 3);
  std::printf("%zu samples, %zu tokens in %u steps, up to %u at once: %u blocks found in the cache, %u forks, %u copies, "
              "%u preemptions; every token as with contiguous memory\n",
              samples, tokens, counts.steps, counts.most_running, counts.hits, counts.forks, counts.copies,
              counts.preemptions);
}
