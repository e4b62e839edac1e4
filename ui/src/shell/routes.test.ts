import { expect, test } from 'vitest';
import { movedTo } from './routes';

test('an old address leads to the page that replaced it, with the rest of its path', () => {
  expect(movedTo('/')).toBe('/overview');
  expect(movedTo('/settings/webhooks')).toBe('/webhooks');
  expect(movedTo('/settings/webhooks/wh_1')).toBe('/webhooks/wh_1');
  expect(movedTo('/settings/environment')).toBe('/vault/environment');
  expect(movedTo('/settings/about')).toBe('/settings/system');
});

test('a current address stays', () => {
  for (const path of ['/chat', '/settings', '/settings/security', '/settings/toString', '/webhooks/wh_1']) {
    expect(movedTo(path)).toBeNull();
  }
});
