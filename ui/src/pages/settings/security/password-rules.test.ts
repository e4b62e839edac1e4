import { expect, test } from 'vitest';
import { isReady, rules, wrongLength } from './password-rules';

const kept = (password: string, repeated: string, current?: string) =>
  rules(password, repeated, current).map((rule) => rule.kept);

test('twelve characters, not bytes or halves of them', () => {
  expect(kept('é'.repeat(12), 'é'.repeat(12))).toEqual([true, true]);
  expect(kept('é'.repeat(11), 'é'.repeat(11))).toEqual([false, true]);
  expect(kept('😀'.repeat(11), '')).toEqual([false, false]);
  expect(kept('😀'.repeat(12), '')).toEqual([true, false]);
  expect(kept('a'.repeat(1025), '')[0]).toBe(false);
});

test('a change must change something', () => {
  expect(kept('correct horse', 'correct horse', 'correct horse')).toEqual([true, true, false]);
  expect(kept('correct horse', 'correct horse', 'battery staple')).toEqual([true, true, true]);
});

test('what is missing is named', () => {
  expect(rules('correct', '')[0]?.left).toContain('5');
  expect(rules('correct horse', '')[0]?.left).toBeUndefined();
  expect(wrongLength('correct')).toContain('12');
  expect(wrongLength('a'.repeat(1025))).toContain('1024');
  expect(wrongLength('correct horse')).toBeNull();
  expect(isReady('correct horse', 'correct horse')).toBe(true);
  expect(isReady('correct horse', 'correct hors')).toBe(false);
});
