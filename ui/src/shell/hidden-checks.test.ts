import { expect, test } from 'vitest';
import { failuresOf, visibleChecks } from './hidden-checks';

const subject = (id: string) => ({ id, name: id, message: id });
const queue = { id: 'queue' };
const senders = { id: 'senders', subjects: [subject('wh_a'), subject('wh_b')] };

test('a check fails as a whole or for each of its subjects', () => {
  expect(failuresOf([queue, senders])).toEqual(['queue', 'senders/wh_a', 'senders/wh_b']);
});

test('a check is shown again when another of its subjects fails', () => {
  expect(visibleChecks([queue, senders], [])).toEqual([queue, senders]);
  expect(visibleChecks([queue, senders], ['queue', 'senders/wh_a'])).toEqual([senders]);
  expect(visibleChecks([queue, senders], ['queue', 'senders/wh_a', 'senders/wh_b'])).toEqual([]);
});
