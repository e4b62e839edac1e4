import { describe, expect, it } from 'vitest';
import { ExactNumber, idOf, linesOf, openAtFirst, openFor, parseExactly, search, write } from './tree';

const labels = (value: unknown, open: string[]) =>
  linesOf(value, new Set(open)).map((line) => line.label ?? line.range ?? '');

describe('lines', () => {
  it('shows what is open, and no more', () => {
    const value = { a: { b: [1, 2] }, c: null };
    expect(labels(value, [])).toEqual(['']);
    expect(labels(value, [''])).toEqual(['', 'a', 'c']);
    expect(labels(value, ['', 'a', idOf(['a', 'b'])])).toEqual(['', 'a', 'b', 0, 1, 'c']);
  });

  it('puts long lists into groups, and groups of groups', () => {
    const value = Array.from({ length: 20_500 }, (_, at) => at);
    const closed = linesOf(value, new Set(['']));
    expect(closed).toHaveLength(1 + 3);
    expect(closed.map((line) => line.range)).toEqual([undefined, [0, 10_000], [10_000, 20_000], [20_000, 20_500]]);
    const open = new Set(openFor(value, [20_499]));
    const lines = linesOf(value, open);
    expect(lines.find((line) => line.id === '20499')?.value).toBe(20_499);
    expect(lines.length).toBeLessThan(220);
  });

  it('finds a way to each place', () => {
    const value = { list: Array.from({ length: 150 }, (_, at) => ({ name: `n${at}` })) };
    const [path] = search(value, 'N149');
    expect(path).toEqual(['list', 149, 'name']);
    const lines = linesOf(value, new Set(openFor(value, path ?? [])));
    expect(lines.some((line) => line.id === idOf(path ?? []))).toBe(true);
  });

  it('opens little of much at first', () => {
    const value = { many: Array.from({ length: 5_000 }, () => ({ deep: [1, 2, 3] })), few: { x: 1 } };
    expect(linesOf(value, openAtFirst(value)).length).toBeLessThan(70);
    expect([...openAtFirst(value)]).toContain('few');
  });
});

describe('numbers', () => {
  it('that JavaScript would change are shown as they were sent, where the browser tells', () => {
    const text = '{"id":12345678901234567890,"n":1.5,"s":"12345678901234567890"}';
    const value = parseExactly(text) as Record<string, unknown>;
    expect([value.n, value.s]).toEqual([1.5, '12345678901234567890']);
    const tells = JSON.stringify(parseExactly('[10000000000000000001]')) !== '[10000000000000000000]';
    expect(value.id instanceof ExactNumber).toBe(tells);
    if (tells) expect(write(value)).toContain('"id": 12345678901234567890');
  });
});

it('writes what JSON would', () => {
  const value = { a: [], b: {}, c: [1, { d: 'ü"' }], e: null };
  expect(JSON.parse(write(value))).toEqual(value);
  expect(write(value)).toBe(JSON.stringify(value, null, 2));
});
