// Tables with zeros: find the entries that survive. A positive entry survives if it stays positive in the limit of alternating
// normalisation. Which entries survive depends only on the pattern of zeros and on the sums.
//
// Rows and columns fall into blocks b = (I_b, J_b). The ratio of a block, lambda_b = c(J_b) / r(I_b), is the total of its column sums
// divided by the total of its row sums. The blocks are found by maximum flow.
// Start with all rows I and columns J, and lambda = c(J) / r(I). Column j sends its sum c_j along positive entries to rows; row i
// has the capacity lambda r_i.
//   - If all mass can be sent, (I, J) is a block.
//   - Otherwise the rows and columns that are reachable from unsent mass in the residual graph have a higher ratio than the others. They
//     become a separate part, and both parts are treated in the same way.
// The residual graph has arcs column j -> row i where M_ij > 0 (j can send more) and row i -> column j where flow_ij > 0 (j can take mass
// back). Inside a block an entry survives if its row and column are in one strongly connected component of the residual graph.
//
// Ties between ratios are common (uniform priors), and sums carry rounding errors, so exact comparison would be
// arbitrary. Amounts with a relative difference below TIE are treated as equal. This is safe because the limit is
// continuous in the sums: treating a near tie as a tie changes the scaled table by at most about TIE (n + m) times its
// total. The exception is a column whose sum is below TIE times the sums of all of its rows: such a column, divided by its sum, does not
// change continuously. Its flow is not significant, so that it connects no rows, and `attach` chooses its component.
#pragma once
#include "pattern.hpp"
#include "problem.hpp"

namespace core::CORE_ISA {

inline constexpr double TIE = 1e-11;  // smaller relative differences, such as the rounding errors of sums, count as ties; see above
// On each level (see `add_level`), column sums below this share of the largest one count as zero, so TIE * sum is a normal number.
inline constexpr double NEGLIGIBLE = 1e-290;

// The components. Rows that are positive in the same columns form a kind. The label of a kind or of a column is the number of its
// component, -1 for none. An entry survives if it is positive and its row and column have the same label, not -1.
struct Components {
  int size = 0, num_blocks = 0;
  Array<int> kind_label, column_label;
  Array<int> block;      // by component: the number of its block, counted from the highest ratio to the lowest
  Array<int> reached;    // by component: the number of columns that can be reached from it in the residual graph
  Array<double> ratio;   // by component: the factor by which the sums of its rows are multiplied in the limit
  Array<double> mass;    // by column: its sum, multiplied by a power of two for each level; 0 if it counts as zero; see `add_level`
};

class BlockFinder {
 public:
  explicit BlockFinder(const Pattern& pattern)
      : p(pattern), flow(size_t(p.num_kinds) * p.m), carries(p.of_kind.size()), sends(p.of_column.size()), capacity(p.num_kinds),
        spare(p.num_kinds), unsent(p.m), noise(p.m), kinds_in(p.kind_words), columns_in(p.column_words), kinds_seen(p.kind_words),
        columns_seen(p.column_words), kinds_ahead(p.kind_words), columns_ahead(p.column_words),
        kind_part(p.num_kinds), column_part(p.m), kind_parent(p.num_kinds), column_parent(p.m), queue(p.m), stack(p.m + 1) {
    out.kind_label.resize(p.num_kinds), out.column_label.resize(p.m), out.mass.resize(p.m);
    out.block.resize(p.m), out.reached.resize(p.m), out.ratio.resize(p.m);
  }

  // Find the components for given sums; `kind_sums` has the total of the row sums of each kind. No sum is negative. The totals of
  // `kind_sums` and `column_sums` may differ. With `shift`, the sum of column j is column_sums[j] * 2**(-512 shift[j]).
  const Components& find(const double* kind_sums, const double* column_sums, const double* shift = nullptr) {
    r = kind_sums;
    out.size = out.num_blocks = 0;
    for (int j = 0; j < p.m; ++j) out.mass[j] = 0.0, out.column_label[j] = column_part[j] = -1;
    for (int k = 0; k < p.num_kinds; ++k) out.kind_label[k] = kind_part[k] = -1;
    while (add_level(column_sums, shift) && !is_stopped()) {}
    attach();
    return out;
  }

 private:
  double& flow_at(int k, int j) { return flow[size_t(k) * p.m + j]; }
  Word* carried_by(int k) { return &carries[size_t(k) * p.column_words]; }
  Word* sent_by(int j) { return &sends[size_t(j) * p.kind_words]; }

  void send(int k, int j, double amount) {
    double& f = flow_at(k, j);
    f += amount;
    if (f > 0) put(carried_by(k), j), put(sent_by(j), k);
    else f = 0, drop(carried_by(k), j), drop(sent_by(j), k);
  }
  // Whether a flow exceeds the rounding errors of the column's mass; a column with less mass than the rounding errors of its rows has no
  // such flow.
  bool is_significant(int k, int j) { return flow_at(k, j) > noise[j]; }
  bool has_spare(int k) const { return spare[k] > TIE * capacity[k]; }

  // Mark the rows and columns that can be reached from a column in the queue; with Backward, those that can reach one.
  // With StopsAtSpare paths end at rows with spare capacity; return the number of these rows.
  template <bool Backward, bool StopsAtSpare>
  int search(int length) {
    int found = 0;
    for (int head = 0; head < length; ++head) {
      const int j = queue[head];
      const Word* arcs = Backward ? sent_by(j) : p.kinds_of(j);
      for (int w = 0; w < p.kind_words; ++w)
        for_bits(arcs[w] & kinds_in[w] & ~kinds_seen[w], w * 64, [&](int k) {
          if (Backward && !is_significant(k, j)) return;
          put(kinds_seen.get(), k);
          kind_parent[k] = j;
          if (StopsAtSpare && has_spare(k)) {
            ++found;
            return;
          }
          const Word* more = Backward ? p.columns_of(k) : carried_by(k);
          for (int v = 0; v < p.column_words; ++v)
            for_bits(more[v] & columns_in[v] & ~columns_seen[v], v * 64, [&](int l) {
              if (!Backward && !is_significant(k, l)) return;
              put(columns_seen.get(), l);
              column_parent[l] = k, queue[length++] = l;
            });
        });
    }
    return found;
  }
  void forget() { kinds_seen.assign(p.kind_words, 0), columns_seen.assign(p.column_words, 0); }
  // Put a column into the queue; return the new length of the queue.
  int start_at(int j, int length = 0) {
    queue[length] = j, column_parent[j] = -1;
    put(columns_seen.get(), j);
    return length + 1;
  }

  // Send as much as possible along the path that `search` found to kind `last`; return the amount.
  double augment(int last) {
    double amount = spare[last];
    int j = kind_parent[last];
    for (; column_parent[j] >= 0; j = kind_parent[column_parent[j]]) amount = smaller(amount, flow_at(column_parent[j], j));
    amount = smaller(amount, unsent[j]);
    if (!(amount > 0)) return 0;
    unsent[j] -= amount, spare[last] -= amount;
    for (int k = last;;) {
      j = kind_parent[k];
      send(k, j, amount);
      if (column_parent[j] < 0) return amount;
      k = column_parent[j];
      send(k, j, -amount);
    }
  }

  // Set the capacities of a part. Existing flow inside the part is kept up to the capacities; flow from other parts is removed.
  void enter(double lambda) {
    double most = 0.0;
    kinds_in.assign(p.kind_words, 0), columns_in.assign(p.column_words, 0);
    for (int j : columns) put(columns_in.get(), j), unsent[j] = out.mass[j];
    for (int k : kinds) {
      put(kinds_in.get(), k);
      capacity[k] = spare[k] = lambda * r[k], most = larger(most, lambda * r[k]);
      for_each(carried_by(k), p.column_words, [&](int j) {
        const bool is_inside = has(columns_in.get(), j);
        const double amount = is_inside ? smaller(smaller(flow_at(k, j), spare[k]), larger(unsent[j], 0.0)) : 0.0;
        send(k, j, amount - flow_at(k, j));
        unsent[j] -= amount, spare[k] -= amount;
      });
    }
    for (int j : columns) {
      double least = out.mass[j] < TIE * most ? __builtin_inf() : 0.0;
      if (least > 0.0) for_each(p.kinds_of(j), p.kind_words, [&](int k) { least = has(kinds_in.get(), k) ? smaller(least, capacity[k]) : least; });
      noise[j] = out.mass[j] > TIE * least ? TIE * out.mass[j] : __builtin_inf();
    }
  }

  // Find a maximum flow inside a part. Rows and columns that are reachable from unsent mass stay marked.
  void maximise() {
    for (int j : columns)  // a greedy start
      for (int w = 0; w < p.kind_words && unsent[j] > 0; ++w)
        for_bits(p.kinds_of(j)[w] & kinds_in[w], w * 64, [&](int k) {
          const double amount = smaller(unsent[j], spare[k]);
          if (amount > 0) unsent[j] -= amount, spare[k] -= amount, send(k, j, amount);
        });
    for (double sent = 1; sent > 0 && !is_stopped();) {
      forget();
      int length = 0;
      for (int j : columns)
        if (unsent[j] > TIE * out.mass[j]) length = start_at(j, length);
      if (length == 0 || search<false, true>(length) == 0) return;
      sent = 0;
      for_each(kinds_seen.get(), p.kind_words, [&](int k) { if (has_spare(k)) sent += augment(k); });
    }
  }

  // Mark the rows and columns of a higher ratio, after `maximise`: those that can be reached from columns with unsent mass, if this mass is
  // not negligible beside that of the reached columns; if it is, those that can be reached from the columns for which it is not. If there are
  // none, mark those that can reach no row with spare capacity. Return false if this capacity is negligible, too.
  bool find_cut() {
    const auto is_cut = [&] {
      double left = 0, total = 0;
      for (int j : columns) if (has(columns_seen.get(), j)) left += larger(unsent[j], 0.0), total += out.mass[j];
      return left > TIE * total;
    };
    if (is_cut()) return true;
    int length = 0;
    starts.clear();
    for (int j : columns) {
      if (!(unsent[j] > TIE * out.mass[j])) continue;
      forget();
      search<false, false>(start_at(j));
      if (is_cut()) starts.push(j);
    }
    forget();
    for (int j : starts) length = start_at(j, length);
    search<false, false>(length);
    if (length > 0) return true;
    for (int k : kinds)
      if (has_spare(k)) {
        put(kinds_seen.get(), k);
        for_each(p.columns_of(k), p.column_words, [&](int j) { if (has(columns_in.get(), j) && !has(columns_seen.get(), j)) length = start_at(j, length); });
      }
    search<true, false>(length);
    double spared = 0, total = 0;
    for (int k : kinds) if (has(kinds_seen.get(), k)) spared += spare[k], total += capacity[k];
    for (int w = 0; w < p.kind_words; ++w) kinds_seen[w] = kinds_in[w] & ~kinds_seen[w];
    for (int w = 0; w < p.column_words; ++w) columns_seen[w] = columns_in[w] & ~columns_seen[w];
    return spared > TIE * total;
  }

  // Move the marked rows and columns into a new part; if no rows or all rows are marked, move nothing and return false.
  bool split(int part) {
    size_t num_marked = 0;
    for (int k : kinds) num_marked += has(kinds_seen.get(), k);
    if (num_marked == 0 || num_marked == kinds.size()) return false;
    for (int k : kinds) if (has(kinds_seen.get(), k)) kind_part[k] = part;
    for (int j : columns) {  // a column moves, too, if all of its rows move
      bool moves = true;
      for_each(p.kinds_of(j), p.kind_words, [&](int k) { moves &= !has(kinds_in.get(), k) || has(kinds_seen.get(), k); });
      if (moves || has(columns_seen.get(), j)) column_part[j] = part;
    }
    return true;
  }

  void label_components() {
    for (int start : columns) {
      if (out.column_label[start] != -1) continue;
      forget();
      search<false, false>(start_at(start));
      kinds_ahead.swap(kinds_seen), columns_ahead.swap(columns_seen);
      forget();
      search<true, false>(start_at(start));
      int label = -2, reached = 0;  // -2 if the component of this column has no row: `attach` then chooses another one
      for (int w = 0; w < p.kind_words; ++w)
        for_bits(kinds_ahead[w] & kinds_seen[w], w * 64, [&](int k) { out.kind_label[k] = label = out.size; });
      for (int w = 0; w < p.column_words; ++w) {
        reached += __builtin_popcountll(columns_ahead[w]);
        for_bits(columns_ahead[w] & columns_seen[w], w * 64, [&](int j) { out.column_label[j] = label; });
      }
      if (label >= 0) out.block[label] = out.num_blocks, out.reached[label] = reached, ++out.size;
    }
  }

  // Split part 0 into blocks. The part with the highest ratio is on top of the stack, so blocks are found from high to low ratios.
  void decompose() {
    int height = 1, num_parts = 1;
    for (stack[0] = 0; height > 0 && !is_stopped();) {
      const int part = stack[height - 1];
      double total = 0, row_total = 0;
      kinds.clear(), columns.clear();
      for (int j = 0; j < p.m; ++j) if (column_part[j] == part) columns.push(j), total += out.mass[j];
      for (int k = 0; k < p.num_kinds; ++k) if (kind_part[k] == part) kinds.push(k), row_total += r[k];
      if (columns.size() > 0 && kinds.size() > 0) {
        enter(total / row_total);
        maximise();
        if (find_cut() && split(num_parts)) {
          stack[height++] = num_parts++;
          continue;
        }
        label_components();
        ++out.num_blocks;
        for (int k : kinds) for_each(carried_by(k), p.column_words, [&](int j) { send(k, j, -flow_at(k, j)); }), kind_part[k] = -2;
        for (int j : columns) column_part[j] = -2;
      }
      --height;
    }
  }
  bool is_left(int k) const { return r[k] > 0 && kind_part[k] == -1; }

  // One level: take the rows that have no block yet. Of the columns in which they are positive, take those whose sums are not negligible
  // beside the largest one (if all sums are zero: all, with equal sums), and decompose. Rows that are positive only in negligible columns
  // remain for the next level, whose blocks have lower ratios. Return false if no row was left.
  bool add_level(const double* sums, const double* shift) {
    double least = __builtin_inf(), largest = 0.0, most = 0.0;  // the shift and the mantissa of the largest sum; its mass
    columns.clear();
    for (int j = 0; j < p.m; ++j) {
      bool has_left = false;
      for_each(p.kinds_of(j), p.kind_words, [&](int k) { has_left |= is_left(k); });
      if (!has_left) continue;
      columns.push(j);
      if (sums[j] > 0.0) least = smaller(shift ? shift[j] : 0.0, least);
    }
    if (columns.size() == 0) return false;
    const auto below = [&](int j) { return shift ? shift[j] - least : 0.0; };
    for (int j : columns) if (below(j) == 0.0) largest = larger(sums[j], largest);
    int exponent = 0;
    __builtin_frexp(largest, &exponent);
    for (int j : columns) {
      out.mass[j] = sums[j] > 0.0 && below(j) < 4.0 ? __builtin_ldexp(sums[j], -exponent - 512 * int(below(j))) : 0.0;
      most = larger(out.mass[j], most);
    }
    const double limit = limit_of_level(NEGLIGIBLE * most);
    for (int j : columns) {
      double& mass = out.mass[j];
      mass = most == 0.0 ? 1.0 : mass <= limit ? 0.0 : mass;
      if (mass == 0.0) continue;
      column_part[j] = 0;
      for_each(p.kinds_of(j), p.kind_words, [&](int k) { if (is_left(k)) kind_part[k] = 0; });
    }
    decompose();
    return true;
  }
  // Raise the limit until every mass above it is more than 1 / TIE times every mass below it: otherwise the ratio of two such columns could
  // matter. If there is no such gap below the largest mass, the limit stays as it is.
  double limit_of_level(double limit) const {
    for (double raised = limit;;) {
      double above = __builtin_inf(), below = 0.0;
      for (int j : columns) {
        if (out.mass[j] > raised) above = smaller(out.mass[j], above); else below = larger(out.mass[j], below);
      }
      if (above == __builtin_inf()) return limit;
      if (!(below > TIE * above)) return raised;
      raised = above;
    }
  }

  // Whether a column with a vanishing sum sends its mass to component a (> 0) or b (< 0); 0: undecided.
  int preference(int a, int b) const {
    return out.block[a] != out.block[b] ? out.block[a] - out.block[b] : out.reached[a] - out.reached[b];
  }
  void attach_columns() {
    for (int j = 0; j < p.m; ++j) {
      if (out.column_label[j] >= 0) continue;
      int best = -1;
      for_each(p.kinds_of(j), p.kind_words, [&](int k) {
        const int label = out.kind_label[k];
        if (r[k] > 0 && label >= 0 && (best < 0 || preference(label, best) > 0)) best = label;
      });
      out.column_label[j] = best;
    }
  }
  // A column whose sum tends to zero goes to the block with the lowest ratio, and there to the component from which the most
  // columns can be reached (if several: the one with the first row). A row whose sum tends to zero gets its mass from the block with
  // the highest ratio, there from the component that reaches the fewest columns (if several: the one with the last column).
  void attach() {
    attach_columns();
    row_totals.assign(out.size, 0.0), out.ratio.assign(p.m, 0.0);
    for (int k = 0; k < p.num_kinds; ++k) {
      int& best = out.kind_label[k];
      if (best < 0)
        for_each(p.columns_of(k), p.column_words, [&](int j) {
          const int label = out.column_label[j];
          if (label >= 0 && (best < 0 || preference(best, label) >= 0)) best = label;
        });
      if (best >= 0) row_totals[best] += r[k];
    }
    attach_columns();  // columns whose rows have just been given a component
    for (int j = 0; j < p.m; ++j) if (out.column_label[j] >= 0) out.ratio[out.column_label[j]] += out.mass[j];
    for (int label = 0; label < out.size; ++label) out.ratio[label] /= row_totals[label];
  }

  const Pattern& p;
  const double* r = nullptr;
  Components out;
  Array<double> flow;
  Set carries, sends;  // columns with flow to each kind, kinds with flow from each column
  Array<double> capacity, spare, unsent, noise, row_totals;
  Set kinds_in, columns_in, kinds_seen, columns_seen, kinds_ahead, columns_ahead;
  Array<int> kind_part, column_part, kind_parent, column_parent, queue, stack, starts, kinds, columns;
};

// EXACT (0): a scaled table has the sums, and no positive entry vanishes. LIMIT (1): it has the sums, but some positive entries vanish.
// INFEASIBLE (2): no table with these zeros has the sums. Entries in rows and columns with the sum zero do not count as vanishing.
inline int status_of(const Pattern& p, const Components& found, const double* kind_sums, const double* column_sums) {
  bool vanishes = false;
  for (int j = 0; j < p.m; ++j) {
    if (!(column_sums[j] > 0)) continue;
    if (found.num_blocks > 1 || found.column_label[j] < 0) return 2;
    for_each(p.kinds_of(j), p.kind_words, [&](int k) { vanishes |= kind_sums[k] > 0 && found.kind_label[k] != found.column_label[j]; });
  }
  return vanishes ? 1 : 0;
}

}  // namespace core::CORE_ISA
