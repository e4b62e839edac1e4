import { expect, test } from 'vitest';
import { generatedValue, valueIn } from './value';

const inFile = (text: string) => valueIn(new TextEncoder().encode(text));

test('a generated value has 256 bits, and each is another', () => {
  const values = new Set(Array.from({ length: 50 }, generatedValue));
  expect(values.size).toBe(50);
  for (const value of values) expect(value).toMatch(/^[\w-]{43}$/);
});

test('a file of one line has no line break, and another file stays as it is', () => {
  for (const text of ['token', 'token\n', 'token\r\n']) expect(inFile(text)).toEqual({ value: 'token' });
  for (const text of ['', '{\n  "a": 1\n}\n', 'token\n\n', ' ä ']) expect(inFile(text)).toEqual({ value: text });
});

test('a file that is too large or not a text is refused', () => {
  expect(inFile('x'.repeat(65_536))).toEqual({ value: 'x'.repeat(65_536) });
  expect(inFile('x'.repeat(65_537))).toEqual({ refused: 'large' });
  expect(inFile('a\0b')).toEqual({ refused: 'binary' });
  expect(valueIn(Uint8Array.of(0x61, 0xff, 0x62))).toEqual({ refused: 'binary' });
});
