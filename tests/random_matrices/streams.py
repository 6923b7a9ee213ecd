"""The random numbers of the native core in plain Python: Philox4x32-10 and xoshiro256+."""

WORD = 2**64 - 1


def philox(seed, stream, pair):
    """Return two words of 64 bits, after Salmon et al. (2011)."""
    low = 2**32 - 1
    c = [stream & low, stream >> 32, pair & low, pair >> 32]
    k = [seed & low, seed >> 32]
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ k[0], q & low, (p >> 32) ^ c[3] ^ k[1], p & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c[0] << 32 | c[1], c[2] << 32 | c[3]


def xoshiro_streams(seed, stream, count):
    """Return the first words of a stream of random matrices, after Blackman and Vigna (2021)."""
    s = [*philox(seed, stream, 0), *philox(seed, stream, 1)]
    s[0] |= 1
    out = []
    for _ in range(count):
        out.append((s[0] + s[3]) & WORD)
        t = (s[1] << 17) & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = ((s[3] << 45) | (s[3] >> 19)) & WORD
    return out
