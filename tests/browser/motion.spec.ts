// With `prefers-reduced-motion`, nothing moves in any state that is animated without it. Each state is checked with and without
// the preference, so a state that is never animated fails the test as well.
import type { Page } from '@playwright/test';
import { isLive } from './fixtures/entering';
import { moving } from './fixtures/motion';
import { dialog, section } from './fixtures/security';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

/** Expects that `how` moves without the preference and that nothing moves with it. The state must not change meanwhile. */
async function movesUnlessUnwanted(page: Page, how: RegExp): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await expect.poll(async () => (await moving(page)).filter((one) => how.test(one)), { message: `moves: ${how}` }).not.toEqual([]);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // Earlier animations have ended by then.
  await expect.poll(() => moving(page), { message: 'motion for somebody who wants none' }).toEqual([]);
}

/** Holds responses until the returned function is called. */
async function hang(page: Page, pattern: RegExp): Promise<() => void> {
  let go = () => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  await page.route(pattern, async (route) => {
    await gone;
    // The page may have navigated away.
    await route.continue().catch(() => undefined);
  });
  return go;
}

test('while a list is loading, and while a button is busy', async ({ home, page }) => {
  // The WebSocket is silent, so calls use HTTP, where they can be held.
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  const list = await hang(page, /\/api\/rpc$/);
  await page.goto('/agents');
  await expect(page.getByRole('main').getByText('Loading…').first()).toBeAttached();
  await movesUnlessUnwanted(page, /skeleton.*appear/);
  list();
  await page.unroute(/\/api\/rpc$/);
  await page.goto('/settings/security/access');
  await section(page, 'API keys').getByRole('button', { name: 'Create an API key' }).click();
  await movesUnlessUnwanted(page, /button.*transition/);
  await dialog(page).getByLabel('Label').fill('backup script');
  const key = await hang(page, /\/api\/auth\/api-keys$/);
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByRole('button', { name: 'Create', exact: true })).toHaveAttribute('aria-busy', 'true');
  await movesUnlessUnwanted(page, /spinner.*turn/);
  key();
  await expect(dialog(page).getByText(/^mk_/)).toBeVisible();
  await dialog(page).getByLabel('I’ve saved it').check();
  expect(home.cookie).not.toBe('');
});

test('while the connection is lost, and when a toast appears', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/webhooks');
  await isLive(page);
  await home.stop();
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await movesUnlessUnwanted(page, /dot.*blink/);
  await home.run();
  await isLive(page);
  await page.getByRole('button', { name: 'Unlock' }).first().click();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill('correct horse battery staple');
  await dialog(page).getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText(/unlocked|open/i)).toBeVisible();
  await movesUnlessUnwanted(page, /rise/);
});

test('while an answer streams, and when the conversation drawer opens on a phone', async ({ home, page, model }) => {
  await home.rpc('chat.send_sync', { text: 'First' });
  model.next({ text: ['Half of it ', 'and the rest.'], hold: true });
  await page.goto('/chat');
  await isLive(page);
  await page.getByRole('textbox', { name: 'Message' }).fill('Tell me all');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await expect(page.getByText('Half of it')).toBeVisible();
  await movesUnlessUnwanted(page, /breathe|turn/);
  model.go();
  await expect(page.getByText('Half of it and the rest.', { exact: true })).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Conversations', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Conversations' })).toBeVisible();
  await movesUnlessUnwanted(page, /dialog.*enter/);
});
