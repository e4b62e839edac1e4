import { expect, test } from 'vitest';
import { EMPTY, headersOf, paramsOf, variablesOf } from './draft';

test('a program has arguments and variables, some from the vault', () => {
  const draft = {
    ...EMPTY,
    name: ' files ',
    command: 'npx',
    args: '-y\n\n server ',
    env: 'TOKEN=vault:GITHUB\nMODE=a=b',
    url: 'x',
  };
  expect(paramsOf(draft)).toEqual({
    name: 'files',
    command: 'npx',
    args: ['-y', 'server'],
    env: { TOKEN: { vault: 'GITHUB' }, MODE: 'a=b' },
  });
});

test('a URL has neither', () => {
  expect(paramsOf({ ...EMPTY, name: 'web', kind: 'url', url: ' https://mcp.example ', args: 'x' })).toEqual({
    name: 'web',
    url: 'https://mcp.example',
  });
});

test('a URL may have headers', () => {
  expect(headersOf('X-Key: Bearer {{secret:KEY}}\n\nb:c:d')).toEqual({ 'X-Key': 'Bearer {{secret:KEY}}', b: 'c:d' });
  for (const wrong of ['X-Key', 'a b: c', ': c', 'a:']) expect(headersOf(wrong)).toBeNull();
  expect(paramsOf({ ...EMPTY, kind: 'url', url: 'u', headers: 'a: b' })).toEqual({
    name: '',
    url: 'u',
    headers: { a: 'b' },
  });
  expect(paramsOf({ ...EMPTY, kind: 'url', headers: 'a' })).toBeNull();
});

test('a line that is no variable is refused', () => {
  expect(variablesOf('TOKEN')).toBeNull();
  expect(variablesOf('1A=b')).toBeNull();
  expect(paramsOf({ ...EMPTY, env: 'TOKEN' })).toBeNull();
});
