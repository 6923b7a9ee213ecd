// Vectors of doubles, usually one problem per lane, with the compiler's vector extensions (GCC, Clang).
//
// Every file that includes this one is compiled once per instruction set, each time into another namespace (CORE_ISA).
// All operations are lane by lane, and the code is compiled with -ffp-contract=off: a lane's result
// depends neither on the width of the vector nor on the other lanes, so every build gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef CORE_ISA
#define CORE_ISA generic
#endif

namespace core::CORE_ISA {

#if defined(__AVX512F__)
inline constexpr int NATIVE = 8;
#elif defined(__AVX__)
inline constexpr int NATIVE = 4;
#else
inline constexpr int NATIVE = 2;
#endif

typedef double Vec __attribute__((vector_size(8 * NATIVE), may_alias));
using Mask = decltype(Vec{} < Vec{});
typedef unsigned long long Words __attribute__((vector_size(8 * NATIVE), may_alias));

#define CORE_INLINE inline __attribute__((always_inline))

CORE_INLINE Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
// Load into a register; GCC would otherwise read the memory again at every use.
CORE_INLINE Vec loaded(const double* p) {
  Vec x = load(p);
#if defined(__x86_64__)
  __asm__("" : "+x"(x));
#endif
  return x;
}
CORE_INLINE void store(double* p, Vec x) { *reinterpret_cast<Vec*>(p) = x; }
CORE_INLINE Vec broadcast(double x) { return Vec{} + x; }

// The same names for one number and for a vector, so that templates take both.
CORE_INLINE double select(bool m, double a, double b) { return m ? a : b; }
CORE_INLINE Vec select(Mask m, Vec a, Vec b) { return m ? a : b; }
CORE_INLINE bool not_in(bool m) { return !m; }
CORE_INLINE Mask not_in(Mask m) { return ~m; }
// The lanes in which a mask is set, as bits.
CORE_INLINE unsigned lanes_in(bool m) { return m; }
CORE_INLINE unsigned lanes_in(Mask m) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask((__m512i)m);
#elif defined(__AVX__)
  return unsigned(_mm256_movemask_pd((__m256d)m));
#else
  return (m[0] & 1) | (m[1] & 2);
#endif
}
template <class M>
CORE_INLINE bool any(M m) { return lanes_in(m) != 0; }
CORE_INLINE double root(double x) { return __builtin_sqrt(x); }
CORE_INLINE Vec root(Vec x) {
  for (int lane = 0; lane < NATIVE; ++lane) x[lane] = __builtin_sqrt(x[lane]);  // becomes one instruction
  return x;
}
CORE_INLINE double magnitude(double x) { return __builtin_fabs(x); }
// `larger` and `smaller` return b if a or b is NaN, as the processor's instructions do.
CORE_INLINE double larger(double a, double b) { return a > b ? a : b; }
CORE_INLINE double smaller(double a, double b) { return a < b ? a : b; }
CORE_INLINE Vec magnitude(Vec x) { return (Vec)((Words)x & 0x7fffffffffffffffULL); }
#if defined(__AVX512F__)  // with a mask, because GCC 12 warns about an uninitialised variable in its own `_mm512_max_pd`
CORE_INLINE Vec larger(Vec a, Vec b) { return (Vec)_mm512_mask_max_pd((__m512d)a, 0xff, (__m512d)a, (__m512d)b); }
CORE_INLINE Vec smaller(Vec a, Vec b) { return (Vec)_mm512_mask_min_pd((__m512d)a, 0xff, (__m512d)a, (__m512d)b); }
#elif defined(__AVX__)
CORE_INLINE Vec larger(Vec a, Vec b) { return (Vec)_mm256_max_pd((__m256d)a, (__m256d)b); }
CORE_INLINE Vec smaller(Vec a, Vec b) { return (Vec)_mm256_min_pd((__m256d)a, (__m256d)b); }
#elif defined(__SSE2__)
CORE_INLINE Vec larger(Vec a, Vec b) { return (Vec)_mm_max_pd((__m128d)a, (__m128d)b); }
CORE_INLINE Vec smaller(Vec a, Vec b) { return (Vec)_mm_min_pd((__m128d)a, (__m128d)b); }
#else
CORE_INLINE Vec larger(Vec a, Vec b) { return a > b ? a : b; }
CORE_INLINE Vec smaller(Vec a, Vec b) { return a < b ? a : b; }
#endif
template <class T>
CORE_INLINE T clip(T x, double bound) { return larger(smaller(x, T{} + bound), T{} - bound); }

// The product of the lower halves of 64-bit words.
CORE_INLINE Words half_product(Words a, Words b) {
#if defined(__AVX512F__)
  return (Words)_mm512_mask_mul_epu32((__m512i)a, 0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && !defined(__AVX__)
  return (Words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffULL) * (b & 0xffffffffULL);
#endif
}
CORE_INLINE uint64_t half_product(uint64_t a, uint64_t b) { return (a & 0xffffffffULL) * (b & 0xffffffffULL); }

// Unaligned access, for rows of a table.
CORE_INLINE Vec load_any(const double* p) { Vec x; __builtin_memcpy(&x, p, sizeof x); return x; }
CORE_INLINE void store_any(double* p, Vec x) { __builtin_memcpy(p, &x, sizeof x); }

// Numbers of L problems side by side: vectors, or single numbers if L = 1.
template <int L>
struct SideBySide {
  using T = std::conditional_t<L == 1, double, Vec>;
  static constexpr int N = L == 1 ? 1 : NATIVE;
  static CORE_INLINE T get(const double* from) { return *reinterpret_cast<const T*>(from); }
  static CORE_INLINE void put(double* to, T x) { *reinterpret_cast<T*>(to) = x; }
};

// A growing array of plain values, aligned to a cache line. std::vector is not used: its functions have the same names
// in the object files of all instruction sets, and the linker keeps one copy of each. Old processors could then execute
// instructions that they do not have.
template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(size_t size, T value = T{}) { assign(size, value); }
  Array(const Array& other) { append(other.data_, other.size_); }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array other) noexcept { swap(other); return *this; }
  ~Array() { ::operator delete(data_, std::align_val_t{64}); }

  void swap(Array& other) noexcept {
    T* data = data_;
    size_t size = size_, capacity = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = data, other.size_ = size, other.capacity_ = capacity;
  }
  void resize(size_t size) {  // new values are zero
    reserve(size);
    if (size > size_) std::memset(static_cast<void*>(data_ + size_), 0, (size - size_) * sizeof(T));
    size_ = size;
  }
  void assign(size_t size, T value) {
    reserve(size);
    size_ = size;
    for (size_t k = 0; k < size; ++k) data_[k] = value;
  }
  void append(const T* values, size_t count) {
    reserve(size_ + count);
    if (count) std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
    size_ += count;
  }
  void push(T value) {
    reserve(size_ + 1);
    data_[size_++] = value;
  }
  void clear() { size_ = 0; }
  T* get() { return data_; }
  const T* get() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t k) { return data_[k]; }
  const T& operator[](size_t k) const { return data_[k]; }
  size_t size() const { return size_; }

 private:
  void reserve(size_t size) {
    if (size <= capacity_) return;
    const size_t capacity = size > 2 * capacity_ ? size : 2 * capacity_;
    T* data = static_cast<T*>(::operator new((capacity * sizeof(T) + 127) / 64 * 64, std::align_val_t{64}));
    if (size_) std::memcpy(static_cast<void*>(data), data_, size_ * sizeof(T));
    ::operator delete(data_, std::align_val_t{64});
    data_ = data, capacity_ = capacity;
  }
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace core::CORE_ISA
