import { expect, it } from 'vitest';
import { matching, wantedAt } from './suggest';

it('asks for commands only at the start, and for agents at the start of any word', () => {
  expect(wantedAt('/re', 3)).toEqual({ sign: '/', q: 're', from: 0, to: 3 });
  expect(wantedAt('see /etc', 8)).toBeNull();
  expect(wantedAt('/etc is', 7)).toBeNull();
  expect(wantedAt('ask @Rev', 8)).toEqual({ sign: '@', q: 'Rev', from: 4, to: 8 });
  expect(wantedAt('ask @Rev about', 8)?.to).toBe(8);
  expect(wantedAt('ada@house.example', 17)).toBeNull();
  expect(wantedAt('', 0)).toBeNull();
});

it('finds suggestions by any part of their name', () => {
  const all = ['Second review', 'Review', 'Other'].map((label) => ({ key: label, label, run: () => undefined }));
  expect(matching(all, 'rev').map(({ label }) => label)).toEqual(['Review', 'Second review']);
  expect(matching(all, '')).toHaveLength(3);
});
