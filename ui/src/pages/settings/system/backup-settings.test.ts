import { expect, test } from 'vitest';
import { changesOf, choiceOf, formOf, PATTERNS } from './backup-settings';

const EMPTY = { schedule: '', to: '', keep: '14', recipient: '' };

test('an unset value is empty, and a number is text', () => {
  const stored = new Map<string, { value: unknown }>([
    ['backup.schedule', { value: null }],
    ['backup.keep', { value: 14 }],
  ]);
  expect(formOf(stored)).toEqual(EMPTY);
});

test('a pattern that is not offered is an own one', () => {
  expect(choiceOf('')).toBe('off');
  expect(choiceOf(` ${PATTERNS.daily} `)).toBe('daily');
  expect(choiceOf(PATTERNS.weekly)).toBe('weekly');
  expect(choiceOf('0 4 * * *')).toBe('own');
});

test('only what differs is saved, and the schedule last', () => {
  expect(changesOf(EMPTY, { ...EMPTY, to: ' ' })).toEqual([]);
  const after = { schedule: PATTERNS.daily, to: '/mnt/backups', keep: '7', recipient: 'age1x' };
  expect(changesOf(EMPTY, after)).toEqual([
    ['recipient', 'age1x'],
    ['to', '/mnt/backups'],
    ['keep', 7],
    ['schedule', '30 3 * * *'],
  ]);
  expect(changesOf(after, { ...after, schedule: '', keep: '' })).toEqual([
    ['keep', null],
    ['schedule', null],
  ]);
  // The gateway returns the error of the value.
  expect(changesOf(EMPTY, { ...EMPTY, keep: 'many' })).toEqual([['keep', 'many']]);
});
