import { describe, expect, it } from 'vitest';
import { LiveTurn } from './liveTurn.svelte';

const heard = (...pieces: [string, number][]): LiveTurn => {
  const turn = new LiveTurn();
  for (const [text, at] of pieces) turn.hear(text, at);
  return turn;
};

describe('an answer that comes in pieces', () => {
  it('grows, wherever a piece says that it belongs', () => {
    expect(heard(['ab', 0], ['cd', 2]).text).toBe('abcd');
    // A repeated delta, as after a short disconnect.
    expect(heard(['ab', 0], ['b', 1], ['c', 2]).text).toBe('abc');
  });

  it('is known from the middle, and whole after its beginning is received', () => {
    const turn = heard(['ef', 4], ['gh', 6]);
    expect([turn.from, turn.text]).toEqual([4, 'efgh']);
    turn.catchUp('abcdef');
    turn.hear('ij', 8);
    expect([turn.from, turn.text]).toEqual([0, 'abcdefghij']);
  });

  it('is as received when nothing newer was heard', () => {
    const turn = heard(['cd', 2]);
    turn.catchUp('abcdef');
    expect(turn.text).toBe('abcdef');
    const late = heard(['xy', 20]);
    late.catchUp('abc');
    late.hear('d', 3);
    expect(late.text).toBe('abcd');
  });
});
