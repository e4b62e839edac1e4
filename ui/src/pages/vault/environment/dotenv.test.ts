import { describe, expect, test } from 'vitest';
import { isBlock, readAssignments } from './dotenv';

const pairs = (text: string) => readAssignments(text).assignments.map(({ key, value }) => [key, value]);

describe('readAssignments', () => {
  test('plain, exported, commented, spaced', () => {
    expect(pairs('# a comment\nA=1\nexport B = two words \n\nC=x # not this\nD=a#b\nE=')).toEqual([
      ['A', '1'],
      ['B', 'two words'],
      ['C', 'x'],
      ['D', 'a#b'],
      ['E', ''],
    ]);
  });

  test('quotes keep what is in them', () => {
    expect(pairs(`A=" x # y "\nB='$HOME\\n'\nC="a\\nb\\"c\\\\"\nD="a=b"`)).toEqual([
      ['A', ' x # y '],
      ['B', '$HOME\\n'],
      ['C', 'a\nb"c\\'],
      ['D', 'a=b'],
    ]);
  });

  test('values of several lines', () => {
    expect(pairs('KEY="-----BEGIN\nabc\n-----END"\r\nNEXT=1')).toEqual([
      ['KEY', '-----BEGIN\nabc\n-----END'],
      ['NEXT', '1'],
    ]);
  });

  test('the last of a key holds, and equals signs belong to values', () => {
    expect(pairs('A=1\nB=2\nA=a=b==')).toEqual([
      ['B', '2'],
      ['A', 'a=b=='],
    ]);
  });

  test('what is no assignment is reported with its line', () => {
    expect(readAssignments('A=1\nnonsense\nB="open\nC=3')).toEqual({
      assignments: [
        { key: 'A', value: '1' },
        { key: 'C', value: '3' },
      ],
      unread: [2, 3],
    });
  });
});

test('a block is distinguished from a name', () => {
  for (const block of ['A=1', 'export A=1', '# x\nA=1', ' A = 1']) expect(isBlock(block)).toBe(true);
  for (const name of ['A', 'API_KEY', '=1', '1A=2']) expect(isBlock(name)).toBe(false);
});
