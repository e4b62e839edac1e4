import { expect, test } from 'vitest';
import type { McpServer } from '../../../client/generated/rpc';
import { changesOf, draftOf, EMPTY, headersOf, isOther, keepable, moves, paramsOf, variablesOf } from './draft';

const BASE = { name: 'far', fixed: false, state: 'connected', tools: [], needs_approval: false };
const PROGRAM: McpServer = { ...BASE, transport: 'stdio', command: 'npx', args_count: 2, env: ['TOKEN'] };
const REMOTE: McpServer = { ...BASE, transport: 'http', url: 'https://mcp.example/a', headers: ['X-Key'] };
const REPLACES = { args: false, env: false, headers: false };

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

test('a form without changes has no changes', () => {
  expect(changesOf(draftOf(PROGRAM), PROGRAM)).toEqual({ name: 'far' });
  expect(changesOf(draftOf(REMOTE), REMOTE)).toEqual({ name: 'far' });
});

test('only what was edited is sent', () => {
  expect(changesOf({ ...draftOf(PROGRAM), command: ' uvx ' }, PROGRAM)).toEqual({ name: 'far', command: 'uvx' });
  const typed = { ...draftOf(PROGRAM), args: '-y', env: 'TOKEN=vault:OTHER' };
  expect(changesOf(typed, PROGRAM)).toEqual({ name: 'far' });
  expect(changesOf({ ...typed, keeps: { ...REPLACES, env: true } }, PROGRAM)).toEqual({
    name: 'far',
    args: ['-y'],
  });
  expect(changesOf({ ...typed, keeps: REPLACES }, PROGRAM)).toEqual({
    name: 'far',
    args: ['-y'],
    env: { TOKEN: { vault: 'OTHER' } },
  });
});

test('a part that is not kept and stays empty is cleared', () => {
  expect(changesOf({ ...draftOf(PROGRAM), keeps: REPLACES }, PROGRAM)).toEqual({ name: 'far', args: null, env: null });
  expect(changesOf({ ...draftOf(REMOTE), keeps: REPLACES }, REMOTE)).toEqual({ name: 'far', headers: null });
  const bare = { ...PROGRAM, args_count: 0, env: [] };
  expect(changesOf({ ...draftOf(bare), keeps: REPLACES }, bare)).toEqual({ name: 'far' });
});

test('headers stay with a path of the same origin, and are entered again for another one', () => {
  const path = { ...draftOf(REMOTE), url: 'https://mcp.example/b' };
  expect(moves(path, REMOTE)).toBe(false);
  expect(keepable(path, REMOTE).headers).toBe(true);
  expect(changesOf(path, REMOTE)).toEqual({ name: 'far', url: 'https://mcp.example/b' });
  const other = { ...draftOf(REMOTE), url: 'https://mcp.example:8443/a', headers: 'X-Key: b' };
  expect(moves(other, REMOTE)).toBe(true);
  expect(keepable(other, REMOTE).headers).toBe(false);
  expect(changesOf(other, REMOTE)).toEqual({ name: 'far', url: other.url, headers: { 'X-Key': 'b' } });
  expect(changesOf({ ...other, headers: '' }, REMOTE)).toEqual({ name: 'far', url: other.url, headers: null });
  // The gateway refuses it.
  expect(moves({ ...other, url: 'mcp.example' }, REMOTE)).toBe(false);
});

test('a server of the other kind keeps nothing of the earlier one', () => {
  const url = { ...draftOf(PROGRAM), kind: 'url' as const, url: 'https://mcp.example/' };
  expect(changesOf(url, PROGRAM)).toEqual({ name: 'far', url: 'https://mcp.example/' });
  expect(Object.values(keepable(url, PROGRAM))).toEqual([false, false, false]);
  const program = { ...draftOf(REMOTE), kind: 'program' as const, command: 'npx', args: '-y' };
  expect(changesOf(program, REMOTE)).toEqual({ name: 'far', command: 'npx', args: ['-y'] });
  expect([isOther(url, PROGRAM), isOther(program, REMOTE), isOther(draftOf(REMOTE), REMOTE)]).toEqual([
    true,
    true,
    false,
  ]);
});

test('changes that cannot be read are refused, except in a part that is kept', () => {
  const wrong = { ...draftOf(PROGRAM), env: 'TOKEN' };
  expect(changesOf(wrong, PROGRAM)).toEqual({ name: 'far' });
  expect(changesOf({ ...wrong, keeps: REPLACES }, PROGRAM)).toBeNull();
});
