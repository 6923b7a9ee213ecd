// Common parts of all calls from Python: the kernels of this processor, arrays, threads, Ctrl-C.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;
template <int Axes>
using In = nb::ndarray<const double, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sets = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

namespace core {

constexpr double SHORT_WORK = 4e6;            // multiplications, about a millisecond
constexpr double PRODUCTS_OF_SCALING = 30.0;  // a scaling takes about as long as this many products of its table with a vector

#if defined(__x86_64__)
namespace v2 { extern const Kernels table; }
namespace v3 { extern const Kernels table; }
namespace v4 { extern const Kernels table; }
// The best kernels for this processor, up to a level (x86-64-v2, v3, v4). The processor is asked by cpuid, because
// __builtin_cpu_supports does not link into shared libraries with every compiler.
inline const Kernels* best_kernels(int level) {
  unsigned a, b, c, d, low, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA)) return &v2::table;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if (level < 3 || (low & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2) || !(b & bit_BMI2)) return &v2::table;
  const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
  return level < 4 || (low & 0xe6) != 0xe6 || (b & wide) != wide ? &v3::table : &v4::table;
}
inline const Kernels* chosen = best_kernels(4);
inline std::string choose(const std::string& name) {
  chosen = best_kernels(name == "v2" ? 2 : name == "v3" ? 3 : 4);
  return chosen->name;
}
#else
namespace generic { extern const Kernels table; }
inline const Kernels* chosen = &generic::table;
inline std::string choose(const std::string&) { return chosen->name; }
#endif

// Allocate memory that std::free releases. For an array of 32 MB or more the C library gets new pages from the system at each call. The
// first write to each page is slow, so we ask Linux for fewer, larger pages.
inline void* allocate(size_t size) {
#if defined(__linux__)
  constexpr size_t PAGE = 1 << 21;
  if (size >= 16 * PAGE) {
    void* memory = std::aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
    if (memory) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
  }
#endif
  return std::malloc(size);
}

template <class T>
Out<T> empty(const size_t* shape, size_t num_axes) {
  size_t size = 1;
  for (size_t k = 0; k < num_axes; ++k) size *= shape[k];
  T* data = static_cast<T*>(allocate(std::max<size_t>(size, 1) * sizeof(T)));
  if (!data) throw std::bad_alloc();
  return Out<T>(data, num_axes, shape, nb::capsule(data, [](void* p) noexcept { std::free(p); }));
}
template <class T>
Out<T> empty(std::initializer_list<size_t> shape) { return empty<T>(shape.begin(), shape.size()); }

inline void require(bool condition, const char* text) {
  if (!condition) throw nb::value_error(text);
}

// Split `size` items into blocks and call work(first item, number of items, stop) for each block on threads. Meanwhile the calling thread
// checks for Ctrl-C, which sets `stop`. Fewer than SHORT_WORK multiplications take less than a millisecond: the calling thread does them
// itself, without checks.
template <class Work>
void run_on_threads(size_t size, size_t block_size, int num_threads, Work work, double num_multiplications = SHORT_WORK) {
  Stop stop{false};
  auto run_block = [&](size_t block) { work(block * block_size, std::min(block_size, size - block * block_size), stop); };
  const size_t count = (size + block_size - 1) / block_size;
  if (num_multiplications < SHORT_WORK) {
    nb::gil_scoped_release release;
    for (size_t block = 0; block < count; ++block) run_block(block);
    return;
  }
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::condition_variable all_done;
  std::exception_ptr failure;
  const int num_started = int(std::min(size_t(std::max(num_threads, 1)), count));
  int num_running = num_started;
  std::vector<std::thread> threads;
  auto run = [&] {
    try {
      for (size_t block; !stop && (block = next++) < count;) run_block(block);
    } catch (...) {  // out of memory
      std::lock_guard lock(mutex);
      failure = std::current_exception(), stop = true;
    }
    std::lock_guard lock(mutex);
    if (--num_running == 0) all_done.notify_one();
  };
  bool interrupted = false;
  {
    nb::gil_scoped_release release;
    for (int thread = 0; thread < num_started; ++thread) threads.emplace_back(run);
    for (std::unique_lock lock(mutex); num_running > 0;) {
      all_done.wait_for(lock, std::chrono::milliseconds(20));
      if (num_running == 0 || interrupted) continue;
      lock.unlock();
      {
        nb::gil_scoped_acquire gil;
        interrupted = PyErr_CheckSignals() != 0;
      }
      if (interrupted) stop = true;
      lock.lock();
    }
    for (auto& thread : threads) thread.join();
  }
  if (interrupted) throw nb::python_error();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace core
