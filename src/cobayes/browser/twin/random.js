/**
 * The same seeded random numbers as NumPy's: `new Random(6)` gives the numbers of
 * `np.random.Generator(np.random.SFC64(6)).random()`, so that Python can repeat a lesson that was drawn here.
 */

export class Random {
  /** @param {number} seed An integer from 0 to 2^53. */
  constructor(seed = 0) {
    this.low = 0;
    // The four 64-bit numbers of SFC64 (a, b, c, counter), each as its low and its high half.
    this.state = Uint32Array.of(...seedWords(seed, 6), 1, 0);
    for (let i = 0; i < 12; i++) this.next();
  }

  /** @returns {number} Uniform in [0, 1), 53 bits. */
  uniform() {
    const high = this.next();
    return (high * 2097152 + (this.low >>> 11)) / 9007199254740992;
  }

  /** Advance the generator: returns the upper half of 64 random bits, and keeps the lower half in `low`. */
  next() {
    const s = this.state;
    const bLow = s[2],
      bHigh = s[3],
      cLow = s[4],
      cHigh = s[5];
    const sum = s[0] + bLow + s[6];
    this.low = sum >>> 0;
    const high = (s[1] + bHigh + s[7] + Math.floor(sum / 2 ** 32)) >>> 0;
    s[6]++;
    if (s[6] === 0) s[7]++;
    s[0] = bLow ^ ((bLow >>> 11) | (bHigh << 21));
    s[1] = bHigh ^ (bHigh >>> 11);
    const nine = cLow + ((cLow << 3) >>> 0);
    s[2] = nine;
    s[3] = cHigh + ((cHigh << 3) | (cLow >>> 29)) + Math.floor(nine / 2 ** 32);
    const turned = (((cLow << 24) | (cHigh >>> 8)) >>> 0) + this.low;
    s[4] = turned;
    s[5] = ((cHigh << 24) | (cLow >>> 8)) + high + Math.floor(turned / 2 ** 32);
    return high;
  }

  /**
   * @param {number[]} weights Not negative, not all zero.
   * @param {number} [uniform] The random number in [0, 1) that determines the draw.
   * @returns {number} A position; never one of weight zero.
   */
  draw(weights, uniform = this.uniform()) {
    let rest = uniform * weights.reduce((sum, weight) => sum + weight, 0);
    let last = -1;
    for (let i = 0; i < weights.length; i++) {
      if (!(weights[i] > 0)) continue;
      last = i;
      rest -= weights[i];
      if (rest < 0) return i;
    }
    return last;
  }

  /**
   * @param {number[]} list The list to shuffle in place.
   * @returns {number[]} The same list.
   */
  shuffle(list) {
    for (let k = list.length - 1; k > 0; k--) {
      const other = Math.floor(this.uniform() * (k + 1));
      [list[k], list[other]] = [list[other], list[k]];
    }
    return list;
  }

  /**
   * @param {number} size
   * @returns {number[]} A point drawn uniformly from the simplex.
   */
  simplex(size) {
    const draws = Array.from({ length: size }, () => -Math.log(1 - this.uniform()));
    const sum = draws.reduce((total, draw) => total + draw, 0);
    return draws.map((draw) => draw / sum);
  }
}

/**
 * NumPy's `SeedSequence(seed).generate_state(count)`: unrelated words even for nearby seeds.
 * @param {number} seed An integer from 0 to 2^53.
 * @param {number} count
 * @returns {number[]} 32-bit words.
 */
function seedWords(seed, count) {
  const entropy = [seed >>> 0, Math.floor(seed / 2 ** 32), 0, 0];
  let factor = 0x43b0d7e5;
  const hash = (/** @type {number} */ word) => {
    const mixed = word ^ factor;
    factor = Math.imul(factor, 0x931e8875);
    const product = Math.imul(mixed, factor);
    return product ^ (product >>> 16);
  };
  const mix = (/** @type {number} */ x, /** @type {number} */ y) => {
    const sum = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y);
    return sum ^ (sum >>> 16);
  };
  const pool = entropy.map(hash);
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
  let second = 0x8b51f9dd;
  return Array.from({ length: count }, (_, k) => {
    const mixed = pool[k % 4] ^ second;
    second = Math.imul(second, 0x58f38ded);
    const product = Math.imul(mixed, second);
    return (product ^ (product >>> 16)) >>> 0;
  });
}
