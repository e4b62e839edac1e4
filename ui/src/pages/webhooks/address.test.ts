import { expect, it } from 'vitest';
import { isPrivate } from './address';

it('tells what others reach from what only this machine and its network do', () => {
  for (const url of [
    'http://127.0.0.1:8420/x',
    'http://localhost/x',
    'http://0.0.0.0:1/',
    'http://10.0.0.1',
    'http://192.168.1.5/',
    'http://172.16.0.1/',
    'http://[::1]:1/',
    'http://[fe80::1]/',
    'http://box:1/',
  ]) {
    expect(isPrivate(url), url).toBe(true);
  }
  for (const url of ['https://gate.example.com/x', 'http://172.32.0.1/', 'http://11.0.0.1/']) {
    expect(isPrivate(url), url).toBe(false);
  }
});
