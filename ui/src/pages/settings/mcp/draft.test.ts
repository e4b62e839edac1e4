import { expect, test } from 'vitest';
import { EMPTY, paramsOf, variablesOf } from './draft';

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

test('a line that is no variable is refused', () => {
  expect(variablesOf('TOKEN')).toBeNull();
  expect(variablesOf('1A=b')).toBeNull();
  expect(paramsOf({ ...EMPTY, env: 'TOKEN' })).toBeNull();
});
