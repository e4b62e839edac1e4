// Pictures of setup, login, and the offline page.
import type { Page } from '@playwright/test';
import { ModelServer } from '../fixtures/model';
import { expect, PASSWORD, test } from '../fixtures/test';
import { settled, take, visit } from './take';

const heading = (page: Page, name: string | RegExp) => expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

async function choosePassword(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await press(page, 'Set password');
}

test('first visit', async ({ gateway, page }) => {
  const model = await ModelServer.start();
  model.next({ text: ['A test event came. ', 'Nothing to do.'] });
  await visit(page, 'onboarding', `${gateway.origin}/`);
  await page.goto('/onboarding');
  await choosePassword(page);
  await heading(page, 'Save your recovery key');
  await take(page, 'onboarding-recovery-key');
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');
  await heading(page, 'Add a passkey');
  await take(page, 'onboarding-passkey');
  await press(page, 'Skip for now');
  await heading(page, 'Choose a model provider');
  await take(page, 'onboarding-provider');
  await page.getByRole('radio', { name: 'Another server' }).check();
  await page.getByLabel('Address').fill(model.url);
  await page.getByLabel(/^API key/).fill('sk-wrong');
  await press(page, 'Check and continue');
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel(/^API key/).fill('sk-test');
  await press(page, 'Check and continue');
  await heading(page, 'Choose the default model');
  await page.getByLabel('Default model').selectOption('test-model');
  await take(page, 'onboarding-model');
  await press(page, 'Continue');
  await heading(page, 'Where should messages go?');
  await take(page, 'onboarding-channel');
  await press(page, 'Continue');
  await heading(page, 'Create your first webhook');
  await take(page, 'onboarding-webhook');
  await press(page, 'Create webhook');
  await heading(page, 'The webhook “My first webhook” is ready');
  await press(page, 'Send a test');
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  await take(page, 'onboarding-webhook-ready');
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');
  await heading(page, 'You’re all set');
  await take(page, 'onboarding-done');
  await model.close();
});

test.describe('from another machine', () => {
  test.use({ environment: { SERVICE_BEHIND_PROXY: 'true' } });

  test('first visit', async ({ gateway, page }) => {
    await visit(page, 'onboarding-remote', `${gateway.origin}/`);
  });
});

test('empty pages, and login', async ({ home, page, context }) => {
  const empty = { chat: '/chat', deliveries: '/deliveries', webhooks: '/webhooks', inbox: '/inbox' };
  for (const [name, path] of Object.entries(empty)) await visit(page, `empty-${name}`, path);
  await home.call('DELETE', '/api/auth/sessions');
  await context.clearCookies();
  await page.goto('/deliveries');
  await heading(page, 'Log in to Gatehouse');
  await take(page, 'login');
  const field = page.getByRole('textbox', { name: 'Password', exact: true });
  for (let tries = 0; tries < 5; tries++) {
    await field.fill(`wrong ${tries}`);
    await field.press('Enter');
    await expect(page.getByText('Incorrect password.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Log in', exact: true })).toBeEnabled();
  }
  await field.press('Enter');
  await expect(page.getByRole('timer')).toBeVisible();
  await take(page, 'login-throttled');
});

test('the gateway is down', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/chat');
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await expect.poll(() => page.evaluate(() => caches.keys())).toHaveLength(1);
  await settled(page);
  await home.stop();
  await page.goto('/deliveries');
  await expect(page.getByRole('heading', { name: 'The gateway is not responding' })).toBeVisible();
  await take(page, 'offline');
});
