import { expect, test } from 'vitest';
import { faultsOfCopy, faultsOfDesign, faultsOfStyle } from './check-design.mjs';

const TOKENS = new Set(['--ink', '--fast', '--text']);

test('a component uses tokens', () => {
  const style =
    'a { color: var(--ink); font-size: var(--text); transition: color var(--fast); --own: 1px; top: var(--own); }';
  expect(faultsOfStyle(style, TOKENS)).toEqual([]);
});

test('values of its own and unknown tokens are found', () => {
  const style =
    'a { color: #123456; background: rgb(1 2 3); font-size: 13px; font-weight: 550; transition: color 90ms ease; top: var(--inc); }';
  expect(faultsOfStyle(style, TOKENS).map((fault) => fault.slice(0, 14))).toEqual([
    'has a color of',
    'has a color of',
    'has a font siz',
    'has a font wei',
    'has a duration',
    'uses --inc, wh',
  ]);
});

test('a file that cannot use tokens repeats their colors', () => {
  expect(faultsOfCopy('<meta content="#AABBCC" /> #ddeeff #ddeeff', new Set(['#aabbcc']))).toEqual([
    "has #ddeeff, which is no token's color",
  ]);
});

test('a component that the design page lacks is found, unless it draws nothing', () => {
  const source = '<TabList {tabs} />\n<Card>\n</Card>';
  expect(faultsOfDesign(['Card', 'TabList', 'Later'], source)).toEqual([]);
  expect(faultsOfDesign(['Tab', 'Card'], source)).toEqual(['Tab is not on the design page']);
});
