// Secrets that the gateway returns once: an answer that arrives after the page was left is shown above the open page.
import type { Page } from '@playwright/test';
import { logInByPassword } from './fixtures/entering';
import { hold } from './fixtures/hold';
import { useHttp } from './fixtures/refuse';
import { dialog, section } from './fixtures/security';
import { expect, PASSWORD, test } from './fixtures/test';
import { make } from './fixtures/webhook';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Opens the inbox and then `path`, so that Back leads to the inbox. */
async function openAfterInbox(page: Page, path: string): Promise<void> {
  await useHttp(page);
  await page.goto('/inbox');
  // Before the page has started, the link would load it again.
  await expect(heading(page, 'Inbox')).toBeVisible();
  await page.evaluate((to) => {
    const link = Object.assign(document.createElement('a'), { href: to });
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
  await expect(page).toHaveURL(path);
}

/** Goes back to the inbox, lets the held answer arrive, and returns the secret that is shown there. */
async function shownLate(page: Page, release: () => Promise<number>): Promise<string> {
  await page.goBack();
  await expect(heading(page, 'Inbox')).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  await release();
  const secret = await dialog(page).locator('code.secret').innerText();
  // It stays until the user confirms, on whatever page they are.
  await page.keyboard.press('Escape');
  // The palette would open above it, and log out without a question.
  await page.keyboard.press('Control+k');
  await page.goForward();
  await expect(dialog(page).locator('code.secret')).toHaveText(secret);
  await expect(dialog(page)).toHaveCount(1);
  await expect(dialog(page).getByRole('button', { name: /^(Done|Hide the secret)$/ })).toBeDisabled();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: /^(Done|Hide the secret)$/ }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.locator('body')).not.toContainText(secret);
  return secret;
}

test('an API key is shown although its page was left, and works', async ({ home, page }) => {
  await openAfterInbox(page, '/settings/security/access');
  await section(page, 'API keys').getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('backup script');
  const release = await hold(page, /\/api\/auth\/api-keys$/);
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const key = await shownLate(page, () => release('POST'));
  const answer = await fetch(`${home.origin}/api/auth/status`, { headers: { authorization: `Bearer ${key}` } });
  expect(await answer.json()).toMatchObject({ authenticated: true });
});

test('a device token is shown although its page was left', async ({ home: _, page }) => {
  await openAfterInbox(page, '/settings/security/access');
  await section(page, 'Paired devices').getByRole('button', { name: 'Pair a device' }).click();
  await dialog(page).getByLabel('Label').fill('kitchen tablet');
  const release = await hold(page);
  await dialog(page).getByRole('button', { name: 'Pair', exact: true }).click();
  expect(await shownLate(page, () => release('pairing.create'))).not.toBe('');
});

test('a recovery key is shown although its page was left, and unlocks the vault', async ({ home, page }) => {
  await openAfterInbox(page, '/vault');
  await page.getByRole('button', { name: 'Create a new recovery key' }).click();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  const release = await hold(page, /\/vault\/recovery-key$/);
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const recovery_key = await shownLate(page, () => release('POST'));
  expect(recovery_key).not.toBe(home.recoveryKey);
  await home.call('POST', '/api/auth/vault/seal');
  await home.call('POST', '/api/auth/vault/recovery', { recovery_key });
});

test('a rotated secret of a webhook is shown although its page was left', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Alpha', source_profile: 'github', deliver_only: true });
  await openAfterInbox(page, `/webhooks/${id}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const release = await hold(page);
  await dialog(page).getByRole('button', { name: 'Rotate secret' }).click();
  expect(await shownLate(page, () => release('webhooks.rotate_secret'))).not.toBe('');
});

test('the secret of a new webhook is shown although its page was left, which leads nowhere', async ({ home, page }) => {
  await openAfterInbox(page, '/webhooks/new');
  await page.getByRole('button', { name: /GitHub/ }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Alpha');
  const release = await hold(page);
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.goBack();
  await expect(heading(page, 'Inbox')).toBeVisible();
  await release('webhooks.create');
  await expect(dialog(page)).toContainText('Alpha');
  await expect(dialog(page).locator('code.secret')).not.toBeEmpty();
  await expect(page).toHaveURL(/\/inbox$/);
  expect((await home.rpc<{ webhooks: object[] }>('webhooks.list')).webhooks).toHaveLength(1);
});

test('a secret that is not confirmed waits behind the login', async ({ home, page }) => {
  await page.context().clearCookies();
  await page.goto('/settings/security/access');
  await logInByPassword(page);
  await section(page, 'API keys').getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('backup script');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const key = await dialog(page).locator('code.secret').innerText();
  await home.call('DELETE', '/api/auth/sessions');
  await expect(page.getByText('You were logged out.')).toBeVisible();
  await expect(page.locator('body')).not.toContainText(key);
  await logInByPassword(page);
  await expect(dialog(page).locator('code.secret')).toHaveText(key);
});

test('a question for the password ends with its session, and its action does not run after the login', async ({ home, page }) => {
  await page.context().clearCookies();
  await page.goto('/vault');
  await logInByPassword(page);
  await expect(heading(page, 'Vault')).toBeVisible();
  await home.call('POST', '/api/auth/vault/seal');
  await page.getByRole('button', { name: 'Unlock the vault' }).click();
  await expect(dialog(page)).toBeVisible();
  await home.call('DELETE', '/api/auth/sessions');
  await expect(page.getByText('You were logged out.')).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  await logInByPassword(page);
  await expect(heading(page, 'Vault')).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
});
