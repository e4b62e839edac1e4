// The channel and webhook steps of setup, with a gateway that is killed: no input is lost, and nothing is created twice.
import type { Page } from '@playwright/test';
import { killBeforeTheAnswer } from './fixtures/downtime';
import { heading, press } from './fixtures/entering';
import { receiver } from './fixtures/receiver';
import { expect, PASSWORD, test, type Gateway } from './fixtures/test';

const AWAY = 'The gateway is not responding.';
const alert = (page: Page) => page.getByRole('main').getByRole('alert');
const url = (page: Page) => page.getByLabel('URL', { exact: true });

/** The vault is sealed after a restart: the step reports it, the test unlocks it in place, and the step continues automatically. */
async function unlockHere(page: Page): Promise<void> {
  await alert(page).getByRole('button', { name: 'Unlock' }).click();
  const unlock = page.getByRole('dialog', { name: 'Unlock the vault' });
  await unlock.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await unlock.getByRole('button', { name: 'Unlock', exact: true }).click();
}

const channelsOf = async (gateway: Gateway) =>
  (await gateway.rpc<{ channels: { type: string }[] }>('channels.list')).channels
    .map(({ type }) => type)
    .filter((type) => !['inbox', 'log'].includes(type));

const webhooksOf = async (gateway: Gateway) =>
  (await gateway.rpc<{ webhooks: { id: string; name: string }[] }>('webhooks.list')).webhooks.map(({ name }) => name);

test.beforeEach(({ complaints }) => complaints.allowDowntime());

test('a channel: the gateway is down when the step is shown and when the channel is saved', async ({ home, page }) => {
  const there = await receiver();
  await page.goto('/onboarding?step=model');
  await expect(page.getByRole('radio', { name: 'OpenAI' })).toBeVisible();
  await home.stop('SIGKILL');
  await press(page, 'Skip for now');
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await expect(alert(page)).toContainText(AWAY);
  await home.run();
  await press(page, 'Try again');
  await unlockHere(page);
  await page.getByLabel('Channel').selectOption('HTTP receiver');
  await url(page).fill(there.url);
  await page.getByRole('textbox', { name: 'Headers' }).fill('X-Team: blue');
  await home.stop('SIGKILL');
  await press(page, 'Save and send a test message');
  await expect(alert(page)).toContainText(AWAY);
  await expect(url(page)).toHaveValue(there.url);
  await expect(page.getByRole('textbox', { name: 'Headers' })).toHaveValue('X-Team: blue');
  await home.run();
  await press(page, 'Save and send a test message');
  await unlockHere(page);
  await expect(page.getByText('HTTP receiver accepted the test message.')).toBeVisible();
  expect(there.received).toHaveLength(1);
  expect(there.received[0]?.headers['x-team']).toBe('blue');
  expect(await channelsOf(home)).toEqual(['http']);
  await press(page, 'Continue');
  await expect(heading(page, 'Create your first webhook')).toBeVisible();
  await there.close();
});

test('a channel: created, but the response is lost: the next attempt updates it instead of creating another', async ({ home, page }) => {
  const there = await receiver();
  await page.goto('/onboarding?step=channel');
  await page.getByLabel('Channel').selectOption('HTTP receiver');
  await url(page).fill('http://127.0.0.1:9/not-this-one');
  const { killed } = await killBeforeTheAnswer(page, home, 'channels.create');
  await press(page, 'Save and send a test message');
  await killed;
  await expect(alert(page)).toContainText(AWAY);
  await home.run();
  await url(page).fill(there.url);
  await press(page, 'Save and send a test message');
  await unlockHere(page);
  await expect(page.getByText('HTTP receiver accepted the test message.')).toBeVisible();
  expect(await channelsOf(home)).toEqual(['http']);
  expect(there.received).toHaveLength(1);
  await there.close();
});

test('a channel: created, response lost, then another type is chosen: the first channel is not kept', async ({ home, page }) => {
  const there = await receiver();
  await page.goto('/onboarding?step=channel');
  await page.getByLabel('Channel').selectOption('ntfy');
  await page.getByLabel('Topic').fill('house');
  const { killed } = await killBeforeTheAnswer(page, home, 'channels.create');
  await press(page, 'Save and send a test message');
  await killed;
  await expect(alert(page)).toContainText(AWAY);
  // The gateway is still down.
  await page.getByLabel('Channel').selectOption('HTTP receiver');
  await home.run();
  await url(page).fill(there.url);
  await press(page, 'Save and send a test message');
  await unlockHere(page);
  await expect(page.getByText('HTTP receiver accepted the test message.')).toBeVisible();
  expect(await channelsOf(home)).toEqual(['http']);
  await there.close();
});

test('a webhook: the gateway is down when it is created, and again while its secret is shown', async ({ home, page }) => {
  await page.goto('/onboarding?step=webhook');
  await page.getByLabel('Which service will send?').selectOption('GitHub');
  await page.getByLabel('Name').fill('Shop code');
  await home.stop('SIGKILL');
  await press(page, 'Create webhook');
  await expect(alert(page)).toContainText(AWAY);
  await expect(page.getByLabel('Which service will send?')).toHaveValue('codehost_a');
  await expect(page.getByLabel('Name')).toHaveValue('Shop code');
  await home.run();
  await press(page, 'Create webhook');
  await unlockHere(page);
  await expect(heading(page, 'The webhook “Shop code” is ready')).toBeVisible();
  const secret = page.getByRole('group', { name: /^Secret/ });
  const shown = await secret.innerText();
  await home.stop('SIGKILL');
  await expect(page.getByText('The gateway is not responding. This page retries automatically.')).toBeVisible();
  await press(page, 'Send a test');
  await expect(alert(page)).toContainText(AWAY);
  await home.run();
  await expect(secret).toHaveText(shown);
  await press(page, 'Send a test');
  await unlockHere(page);
  await expect(page.getByText('Completed', { exact: true })).toHaveCount(1);
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');
  await expect(heading(page, 'Almost ready')).toBeVisible();
  expect(await webhooksOf(home)).toEqual(['Shop code']);
});

test('a webhook: created, but its secret is lost: the next attempt finds it and creates a new secret', async ({ home, page }) => {
  await page.goto('/onboarding?step=webhook');
  await page.getByLabel('Name').fill('Doorbell');
  const { killed } = await killBeforeTheAnswer(page, home, 'webhooks.create');
  await press(page, 'Create webhook');
  await killed;
  await expect(alert(page)).toContainText(AWAY);
  await expect(page.getByLabel('Name')).toHaveValue('Doorbell');
  await home.run();
  await press(page, 'Create webhook');
  await unlockHere(page);
  await expect(heading(page, 'The webhook “Doorbell” is ready')).toBeVisible();
  await expect(page.getByText('The secret was shown once.')).toBeVisible();
  await press(page, 'Create a new secret');
  await expect(page.getByText(/^Secret, sent in the header/)).toBeVisible();
  await press(page, 'Send a test');
  await expect(page.getByText('Completed', { exact: true })).toHaveCount(1);
  expect(await webhooksOf(home)).toEqual(['Doorbell']);
});
