// The pattern of zeros of a table, as sets of bits. Rows that are positive in the same columns always share a component (zeros.hpp).
// They form a "kind", one node of the graphs in zeros.hpp. With m columns there are at most 2^m - 1 kinds.
#pragma once
#include "lanes.hpp"

namespace core::CORE_ISA {

using Word = uint64_t;
using Set = Array<Word>;

template <class F>
CORE_INLINE void for_bits(Word bits, int first, F f) {
  for (; bits; bits &= bits - 1) f(first + __builtin_ctzll(bits));
}
// Call f for the members of a set of `words` words.
template <class F>
CORE_INLINE void for_each(const Word* set, int words, F f) {
  for (int w = 0; w < words; ++w) for_bits(set[w], w * 64, f);
}
CORE_INLINE bool has(const Word* set, int k) { return set[k >> 6] >> (k & 63) & 1; }
CORE_INLINE void put(Word* set, int k) { set[k >> 6] |= Word{1} << (k & 63); }
CORE_INLINE void drop(Word* set, int k) { set[k >> 6] &= ~(Word{1} << (k & 63)); }

// Where a table is positive: for every kind of rows the set of columns, for every column the set of kinds.
struct Pattern {
  int n, m, num_kinds = 0, kind_words = 0, column_words;
  Array<int> kind_of;  // by row
  Set of_kind, of_column;

  Pattern(const double* table, int n, int m) : n(n), m(m), column_words((m + 63) / 64), kind_of(n) {
    Array<int> slots(1, -1);  // a hash table of kinds
    while (slots.size() < 2 * size_t(n)) slots.assign(2 * slots.size(), -1);
    Set columns;
    for (int i = 0; i < n; ++i) {
      columns.assign(column_words, 0);
      for (int j = 0; j < m; ++j)
        if (table[size_t(i) * m + j] > 0) put(columns.get(), j);
      uint64_t hash = 0;
      for (Word word : columns) hash = (hash ^ word) * 0xff51afd7ed558ccdULL, hash ^= hash >> 32;
      size_t slot = hash & (slots.size() - 1);
      auto is_other = [&](int kind) { return std::memcmp(columns_of(kind), columns.get(), column_words * sizeof(Word)) != 0; };
      while (slots[slot] >= 0 && is_other(slots[slot])) slot = (slot + 1) & (slots.size() - 1);
      if (slots[slot] < 0) slots[slot] = num_kinds++, of_kind.append(columns.get(), column_words);
      kind_of[i] = slots[slot];
    }
    kind_words = (num_kinds + 63) / 64;
    of_column.resize(size_t(m) * kind_words);
    for (int k = 0; k < num_kinds; ++k) for_each(columns_of(k), column_words, [&](int j) { put(&of_column[size_t(j) * kind_words], k); });
  }
  const Word* columns_of(int kind) const { return &of_kind[size_t(kind) * column_words]; }
  const Word* kinds_of(int column) const { return &of_column[size_t(column) * kind_words]; }
};

}  // namespace core::CORE_ISA
