// A first-time user: from an empty gateway to a signed delivery that an agent answers, using only what the page shows.
// These tests make no API calls; deliveries are signed with the secret that the page displayed.
import type { Page } from '@playwright/test';
import { ModelServer } from './fixtures/model';
import { signed } from './fixtures/sender';
import { expect, PASSWORD, test } from './fixtures/test';

const ANSWER = 'Welcome the new contributor.';
const PAYLOAD = {
  action: 'opened',
  issue: {
    number: 7,
    title: 'The door is stuck',
    body: 'It does not open.',
    user: { login: 'ada' },
    html_url: 'https://codehost.example/acme/door/issues/7',
  },
  repository: { full_name: 'acme/door', html_url: 'https://codehost.example/acme/door' },
  sender: { login: 'ada' },
};

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const step = (page: Page, name: string): Promise<void> =>
  expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeFocused();

async function choosePassword(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await press(page, 'Set password');
  await step(page, 'Save your recovery key');
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');
}

/** From choosing a model to the URL and secret of the webhook, as the page shows them. */
async function reachWebhook(page: Page, address: string): Promise<{ url: string; secret: string }> {
  await step(page, 'Choose a model provider');
  await page.getByRole('radio', { name: 'Your own or another server' }).check();
  // Typed without a scheme, which the page adds.
  await page.getByLabel('Address').fill(address.replace('http://', ''));
  await press(page, 'Check and continue');
  await expect(page.getByRole('alert').getByText(address)).toBeVisible();
  await expect(page.getByLabel('Address')).toHaveValue(address);
  await page.getByLabel(/^API key/).fill('sk-test');
  await press(page, 'Check and continue');
  await step(page, 'Choose the default model');
  await page.getByLabel('Default model').selectOption('test-model');
  await press(page, 'Continue');
  await step(page, 'Where should messages go?');
  await press(page, 'Continue');
  await step(page, 'Create your first webhook');
  await page.getByLabel('Which service will send?').selectOption('GitHub');
  await press(page, 'Create webhook');
  await step(page, 'The webhook “GitHub” is ready');
  const url = await page
    .getByText(/\/api\/webhooks\/ingest\/wh_\w+$/)
    .first()
    .textContent();
  const secret = await page.getByText(/^[0-9a-f]{64}$/).textContent();
  return { url: url ?? '', secret: secret ?? '' };
}

/** Sends a delivery with the headers and the signature of GitHub. */
async function send(url: string, secret: string, headers: Record<string, string> = {}): Promise<number> {
  const body = JSON.stringify(PAYLOAD);
  const sent = {
    'content-type': 'application/json',
    'X-GitHub-Event': 'issues',
    'X-GitHub-Delivery': crypto.randomUUID(),
  };
  const signature = signed.codehost_a_hmac_sha256?.(secret, body);
  return (await fetch(url, { method: 'POST', body, headers: { ...sent, ...signature, ...headers } })).status;
}

/** The answer appears in the setup step and again in the app. */
async function findAnswer(page: Page): Promise<void> {
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  await expect(page.getByText(ANSWER)).toBeVisible();
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');
  await step(page, 'You’re all set');
  await page.getByRole('link', { name: 'View deliveries' }).click();
  await page.getByRole('link', { name: /issues\.opened/ }).click();
  await expect(page.getByText(/^Answered by an agent/)).toBeVisible();
  await page.getByRole('link', { name: 'Open conversation' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /^ada opened issue #7: The door is stuck/ })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText(ANSWER)).toBeVisible();
}

test('on the same machine: from an empty gateway to a signed delivery that an agent answers', async ({ page }) => {
  const model = await ModelServer.start();
  await page.goto('/');
  await choosePassword(page);
  await step(page, 'Add a passkey');
  await press(page, 'Skip for now');
  const { url, secret } = await reachWebhook(page, model.url);

  // A delivery without the secret is refused and reaches no agent.
  model.next({ text: [ANSWER] });
  expect(await send(url, 'not the secret')).toBe(401);
  expect(model.asked).toHaveLength(0);
  expect(await send(url, secret)).toBe(202);
  await findAnswer(page);
  expect(JSON.stringify(model.asked[0]?.messages)).toContain('The door is stuck');

  // The user can find the logout and log in again.
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await press(page, 'Log in');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await model.close();
});

test.describe('behind a proxy', () => {
  test.use({ environment: { SERVICE_BEHIND_PROXY: 'true' } });

  test('from another machine: from the setup code to a signed delivery that an agent answers', async ({ page, gateway }) => {
    const model = await ModelServer.start();
    await page.goto('/');
    await expect(page.getByText('printed where the gateway was started')).toBeVisible();
    await page.getByLabel('Setup code').fill(gateway.setupCode);
    await choosePassword(page);
    await step(page, 'Add a passkey');
    await press(page, 'Skip for now');
    const { url, secret } = await reachWebhook(page, model.url);
    model.next({ text: [ANSWER] });
    expect(await send(url, secret)).toBe(202);
    await findAnswer(page);
    await model.close();
  });
});

test('a key entered for one server is not sent to another', async ({ page, gateway }) => {
  const [first, second] = [await ModelServer.start(), await ModelServer.start('sk-other')];
  const use = page.getByRole('radio', { name: 'Your own or another server' });
  await gateway.setUp();
  await page
    .context()
    .addCookies([
      {
        name: 'service_session',
        value: gateway.cookie.split('=')[1] ?? '',
        url: gateway.origin,
        httpOnly: true,
        sameSite: 'Strict',
      },
    ]);
  await page.goto('/onboarding?step=model');
  await use.check();
  await page.getByLabel('Address').fill(first.url);
  await page.getByLabel(/^API key/).fill('sk-test');
  await press(page, 'Check and continue');
  await step(page, 'Choose the default model');
  await press(page, 'Choose another provider');

  // The second server refuses the key; the first one still works and keeps its own key.
  await use.check();
  await page.getByLabel('Address').fill(second.url);
  await page.getByLabel(/^API key/).fill('sk-wrong');
  await press(page, 'Check and continue');
  await expect(page.getByRole('alert').getByText(second.url)).toBeVisible();
  await page.getByRole('radio', { name: /^local/ }).check();
  await press(page, 'Use local');
  await step(page, 'Choose the default model');
  await Promise.all([first.close(), second.close()]);
});
