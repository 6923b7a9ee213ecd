/** Seeded random numbers: the small fast counter generator (sfc32) of PractRand, 53 bits at a time. */

export class Random {
  /** @param {number} seed An integer; the same seed gives the same numbers. */
  constructor(seed = 0) {
    this.a = 0x9e3779b9;
    this.b = seed >>> 0;
    this.c = Math.floor(seed / 2 ** 32) >>> 0;
    this.counter = 1;
    for (let i = 0; i < 16; i++) this.bits();
  }

  /** @returns {number} 32 random bits. */
  bits() {
    const sum = (((this.a + this.b) >>> 0) + this.counter) >>> 0;
    this.counter = (this.counter + 1) >>> 0;
    this.a = (this.b ^ (this.b >>> 9)) >>> 0;
    this.b = (this.c + (this.c << 3)) >>> 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) >>> 0;
    return sum;
  }

  /** @returns {number} Uniform in [0, 1). */
  uniform() {
    return ((this.bits() >>> 5) * 67108864 + (this.bits() >>> 6)) / 9007199254740992;
  }

  /**
   * @param {number[]} weights Not negative, not all zero.
   * @param {number} [uniform] The number in [0, 1) that decides.
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

  /** @returns {number[]} A point of the simplex, uniformly. */
  simplex(size) {
    const draws = Array.from({ length: size }, () => -Math.log(1 - this.uniform()));
    const sum = draws.reduce((total, draw) => total + draw, 0);
    return draws.map((draw) => draw / sum);
  }
}
