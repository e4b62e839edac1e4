// From the first visit to being inside, and back in again: onboarding and login.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { authenticator, expect, Gateway, PASSWORD, test } from './fixtures/test';

const KEY = /^([A-Z2-9]{4}-){7}[A-Z2-9]{4}$/;
const heading = (page: Page, name: string | RegExp): Locator => page.getByRole('heading', { level: 1, name });
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

/** Sound in both themes, and on the narrowest and the widest screen; leaves light and the usual size. */
async function isSound(page: Page, name: string): Promise<void> {
  const shots = process.env.GATEHOUSE_TEST_SHOTS;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
    for (const [width, height] of shots ? [[390, 844], [1440, 900]] : []) {
      await page.setViewportSize({ width: width ?? 0, height: height ?? 0 });
      await page.screenshot({ path: `${shots}/${name}-${colorScheme}-${width}.png`, fullPage: true });
    }
  }
  for (const width of [320, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(over, `${name} at ${width} px scrolls sideways`).toBeLessThanOrEqual(0);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function choosePassword(page: Page): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await press(page, 'Set password');
}

async function storeRecoveryKey(page: Page): Promise<void> {
  await expect(page.getByText(KEY)).toBeVisible();
  await page.getByLabel('I stored it').check();
  await press(page, 'Continue');
}

async function logInByPassword(page: Page, password = PASSWORD): Promise<void> {
  const field = page.getByLabel('Password', { exact: true });
  await field.fill(password);
  await field.press('Enter');
}

const isLive = (page: Page): Promise<void> => expect(page.getByText('Live', { exact: true })).toBeVisible();

test('first visit on this machine: from a password to a webhook that an agent answered', async ({ gateway, page }) => {
  const model = await ModelServer.start();
  model.next({ text: ['A test event came. ', 'Nothing to do.'] });
  await page.goto('/');
  await expect(page).toHaveURL(`${gateway.origin}/onboarding`);
  await expect(page.getByLabel('Setup code')).toHaveCount(0);

  // What the password must be is told while it is typed, and at the fields when it is not kept to.
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await page.getByLabel('Password', { exact: true }).fill('too short');
  await expect(page.getByText('(3 to go)')).toBeVisible();
  await press(page, 'Set password');
  await expect(page.getByText('The password needs at least 12 characters.')).toBeVisible();
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await expect(page.getByText('At least 12 characters: yes')).toBeVisible();
  await page.getByLabel('Confirm password', { exact: true }).fill('something else');
  await press(page, 'Set password');
  await expect(page.getByText('This differs from the password above.')).toBeVisible();
  await isSound(page, 'access');
  await choosePassword(page);

  // The recovery key is not lost by accident, and can be copied and downloaded.
  await expect(heading(page, 'Store your recovery key')).toBeFocused();
  const shown = await page.getByText(KEY).textContent();
  await expect(page.getByRole('button', { name: 'Continue' })).toBeDisabled();
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  await isSound(page, 'recovery');
  const downloading = page.waitForEvent('download');
  await press(page, 'Download');
  const file = await downloading;
  expect(file.suggestedFilename()).toBe('gatehouse-recovery-key.txt');
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk));
  expect(Buffer.concat(chunks).toString()).toBe(`${shown}\n`);
  await storeRecoveryKey(page);
  await expect(page.getByText(KEY)).toHaveCount(0);

  await expect(heading(page, 'Add a passkey')).toBeFocused();
  await isSound(page, 'passkey');
  await press(page, 'Skip for now');

  // A key that does not work is told and not kept; the right one leads on.
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await page.getByRole('radio', { name: 'OpenAI' }).check();
  await press(page, 'Check and continue');
  await expect(page.getByText('Paste the API key.')).toBeVisible();
  await isSound(page, 'model');
  await page.getByRole('radio', { name: 'Another server' }).check();
  await page.getByLabel('Address').fill(model.url);
  await page.getByLabel(/^API key/).fill('sk-wrong');
  await press(page, 'Check and continue');
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel(/^API key/).fill('sk-test');
  await press(page, 'Check and continue');
  await expect(heading(page, 'Choose the default model')).toBeVisible();
  await page.getByLabel('Default model').selectOption('test-model');
  await isSound(page, 'default-model');
  await press(page, 'Continue');

  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await isSound(page, 'channel');
  await press(page, 'Continue');

  await expect(heading(page, 'Create your first webhook')).toBeVisible();
  await isSound(page, 'webhook');
  await press(page, 'Create webhook');
  await expect(heading(page, 'The webhook “My first webhook” is ready')).toBeVisible();
  await expect(page.getByText(/\/api\/webhooks\/ingest\/wh_/).first()).toBeVisible();
  await expect(page.getByText('Nothing yet.')).toBeVisible();
  await press(page, 'Send a test');
  await expect(page.getByText('Answered')).toBeVisible();
  await expect(page.getByText('A test event came. Nothing to do.')).toBeVisible();
  await isSound(page, 'webhook-ready');
  await page.getByLabel('I stored it').check();
  await press(page, 'Continue');

  await expect(heading(page, 'You are set up')).toBeVisible();
  await expect(page.getByText('A model answers')).toBeVisible();
  await expect(page.getByText('A webhook waits for deliveries')).toBeVisible();
  await isSound(page, 'done');
  await page.getByRole('link', { name: 'Start a chat' }).click();
  await isLive(page);
  await expect(page).toHaveURL(`${gateway.origin}/chat`);

  // Setup is behind: the address alone leads inside, a step leads to the step.
  await page.goto('/onboarding');
  await expect(page).toHaveURL(`${gateway.origin}/chat`);
  await page.goto('/onboarding?step=done');
  await expect(heading(page, 'You are set up')).toBeVisible();
  await model.close();
});

test.describe('from elsewhere', () => {
  test.use({ environment: { SERVICE_BEHIND_PROXY: 'true' } });

  test('first visit: one page that asks for the code and says where it is', async ({ gateway, page }) => {
    await page.goto('/');
    await expect(page).toHaveURL(`${gateway.origin}/onboarding`);
    const code = page.getByLabel('Setup code');
    await expect(code).toBeFocused();
    await expect(page.getByText('They were printed where the gateway was started')).toBeVisible();
    await page.getByText('Where do I find it?').click();
    await expect(page.getByText('gatehouse auth setup-code')).toBeVisible();
    await isSound(page, 'remote');
    await choosePassword(page);
    await expect(page.getByText('Type the setup code.')).toBeVisible();
    await code.fill(gateway.setupCode === '000000' ? '000001' : '000000');
    await press(page, 'Set password');
    await expect(page.getByText('The setup code is wrong')).toBeVisible();
    await expect(code).toBeFocused();
    await isSound(page, 'remote-wrong');
    await code.fill(gateway.setupCode);
    await press(page, 'Set password');
    await storeRecoveryKey(page);
    await expect(heading(page, 'Add a passkey')).toBeVisible();
  });

  test('somebody else was first', async ({ gateway, page }) => {
    await page.goto('/');
    await page.getByLabel('Setup code').fill(gateway.setupCode);
    await gateway.call('POST', '/api/auth/setup', { password: PASSWORD, setup_code: gateway.setupCode });
    await choosePassword(page);
    await expect(page.getByText('Somebody completed the setup meanwhile.')).toBeVisible();
    await press(page, 'Go to the login');
    await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  });
});

test('first visit with a passkey alone, then a password for the vault; login by the passkey', async ({ gateway, page, context }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await page.getByRole('radio', { name: 'A passkey, without a password' }).check();
  await press(page, 'Create passkey');
  await expect(heading(page, 'Protect stored secrets')).toBeVisible();
  await isSound(page, 'protect');
  await choosePassword(page);
  await storeRecoveryKey(page);
  await expect(heading(page, 'Choose a model provider')).toBeVisible();

  // Nobody touches the authenticator until the button is there: else autofill logs in at once.
  await presence(false);
  await context.clearCookies();
  await page.goto('/deliveries?status=failed');
  await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  await isSound(page, 'login-both');
  await presence(true);
  await press(page, 'Log in with a passkey');
  await isLive(page);
  await expect(page).toHaveURL(`${gateway.origin}/deliveries?status=failed`);
});

test('a passkey alone is enough; a page by number says why there is none', async ({ gateway, page, context, complaints }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await page.getByRole('radio', { name: 'A passkey, without a password' }).check();
  await press(page, 'Create passkey');
  await press(page, 'Later: leave them unencrypted');
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await presence(false);
  await context.clearCookies();
  await page.goto('/chat');
  await expect(page.getByLabel('Password', { exact: true })).toHaveCount(0);
  await isSound(page, 'login-passkey');
  await presence(true);
  await press(page, 'Log in with a passkey');
  await isLive(page);

  await context.clearCookies();
  complaints.allow(/left the origin: http:\/\/127\.0\.0\.1/);
  await page.goto(`http://127.0.0.1:${gateway.port}/chat`);
  await expect(page.getByText('this address is a number')).toBeVisible();
  await page.getByRole('link', { name: 'Open this page as localhost' }).click();
  await expect(page.getByRole('button', { name: 'Log in with a passkey' })).toBeVisible();
});

test('a passkey beside the password; the browser offers it where the password is typed', async ({ gateway, page, context, complaints }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await choosePassword(page);
  await storeRecoveryKey(page);
  await press(page, 'Create passkey');
  await expect(page.getByText('The passkey is stored.')).toBeVisible();
  await isSound(page, 'passkey-added');
  await press(page, 'Continue');
  await expect(heading(page, 'Choose a model provider')).toBeVisible();

  // The virtual authenticator accepts what autofill offers, as a person would who picks the passkey there.
  await presence(true);
  await context.clearCookies();
  await page.goto('/settings/about?x=1');
  await isLive(page);
  await expect(page).toHaveURL(`${gateway.origin}/settings/about?x=1`);

  // A passkey that was removed meanwhile is told, and the password goes on working. After a restart only the password opens the vault.
  await presence(false);
  await context.clearCookies();
  complaints.allowDowntime();
  await gateway.restart();
  await page.goto('/chat');
  await expect(page.getByText('a passkey lets you in, but does not open it')).toBeVisible();
  await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  await gateway.call('POST', '/api/auth/login', { password: PASSWORD });
  const { passkeys } = await gateway.call<{ passkeys: { id: string }[] }>('GET', '/api/auth/passkeys');
  await gateway.call('DELETE', `/api/auth/passkeys/${passkeys[0]?.id}`);
  await presence(true);
  await press(page, 'Log in with a passkey');
  await expect(page.getByText('This passkey is not known here any more.')).toBeVisible();
  await logInByPassword(page);
  await isLive(page);
});

test('a reload in the middle goes on where one was', async ({ gateway, page }) => {
  await page.goto('/onboarding');
  await choosePassword(page);
  await expect(page.getByText(KEY)).toBeVisible();
  const first = await page.getByText(KEY).textContent();
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await expect(heading(page, 'Do you have your recovery key?')).toBeVisible();
  await isSound(page, 'recovery-again');
  await page.getByLabel('Password', { exact: true }).fill('something wrong');
  await press(page, 'Make a new recovery key');
  await expect(page.getByText('This password is not right.')).toBeVisible();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await press(page, 'Make a new recovery key');
  await expect(page.getByText(KEY)).toBeVisible();
  expect(await page.getByText(KEY).textContent()).not.toBe(first);
  await storeRecoveryKey(page);
  await press(page, 'Skip for now');
  await press(page, 'Skip for now');
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await page.reload();
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await page.goBack();
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  // A login that ended is asked for anew, and the step goes on.
  await page.context().clearCookies();
  await page.reload();
  await logInByPassword(page);
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await page.goto('/onboarding?step=webhook');
  await press(page, 'Create webhook');
  await expect(page.getByText('Secret, for the header X-Webhook-Secret; shown this once')).toBeVisible();
  await page.reload();
  await expect(page.getByText('Its secret was shown once')).toBeVisible();
  await press(page, 'Make a new secret');
  await expect(page.getByText('Secret, for the header X-Webhook-Secret; shown this once')).toBeVisible();
  expect(page.url()).toBe(`${gateway.origin}/onboarding?step=webhook`);
});

test('a provider that the gateway found stands first; one in its settings is used without a key', async ({ page, complaints }) => {
  const model = await ModelServer.start();
  const gateway = await Gateway.start({ ...model.environment, OPENAI_API_KEY: 'sk-found' });
  complaints.allow(/left the origin: http:\/\/localhost/);
  await page.goto(`${gateway.origin}/onboarding`);
  await choosePassword(page);
  await storeRecoveryKey(page);
  await press(page, 'Skip for now');
  const first = page.getByRole('radio').first();
  await expect(first).toHaveAccessibleName(/OpenAI.*Found/);
  await expect(first).toBeChecked();
  await expect(page.getByText('Its key was found in the environment')).toBeVisible();
  await isSound(page, 'model-found');
  await page.getByRole('radio', { name: 'local' }).check();
  await press(page, 'Use local');
  await expect(page.getByText('It stays.')).toBeVisible();
  await press(page, 'Continue');
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await gateway.remove();
  await model.close();
});

test('a first channel: what does not reach is told and mended in place', async ({ home, page }) => {
  const heard: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk)).on('end', () => {
      heard.push(body);
      response.writeHead(request.url === '/right' ? 200 : 404).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  await page.goto('/onboarding?step=channel');
  await page.getByLabel('Channel').selectOption('HTTP receiver');
  await press(page, 'Save and send a test message');
  await expect(page.getByText('Fill this in.')).toBeVisible();
  await expect(page.getByLabel('URL', { exact: true })).toBeFocused();
  await isSound(page, 'channel-missing');
  await page.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/wrong`);
  await press(page, 'Save and send a test message');
  await expect(page.getByRole('alert').first()).toBeVisible();
  await page.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/right`);
  await press(page, 'Save and send a test message');
  await expect(page.getByText('HTTP receiver took the test message.')).toBeVisible();
  await isSound(page, 'channel-sent');
  expect(heard.at(-1)).toContain('The channel works.');
  // One channel was made, not one for each try; a webhook may go to it.
  const { channels } = await home.rpc<{ channels: { type: string }[] }>('channels.list');
  expect(channels.filter(({ type }) => type === 'http')).toHaveLength(1);
  await press(page, 'Continue');
  await page.getByLabel('What should happen then?').selectOption('It goes to “HTTP receiver” as a message');
  await press(page, 'Create webhook');
  await press(page, 'Send a test');
  await expect(page.getByText('Passed on')).toBeVisible();
  expect(heard.length).toBeGreaterThanOrEqual(3);
  await new Promise((resolve) => receiver.close(resolve));
});

test('a webhook of a vendor: what to do there, a secret of theirs, a public address', async ({ home, page }) => {
  await page.goto('/onboarding?step=webhook');
  await expect(page.getByLabel('What should happen then?')).toHaveValue('inbox:inbox');
  await page.getByLabel('What should happen then?').selectOption('The agent reads it and answers');
  await expect(page.getByText('The agent has no model yet')).toBeVisible();
  await isSound(page, 'webhook-no-model');
  await page.getByLabel('Who will send?').selectOption('Stripe');
  await expect(page.getByLabel('Name')).toHaveValue('Stripe');
  await press(page, 'Create webhook');
  await expect(heading(page, 'The webhook “Stripe” is ready')).toBeVisible();
  await expect(page.getByText('Choose Send test event')).toBeVisible();
  await page.getByLabel('Secret of Stripe', { exact: true }).fill('whsec_of_theirs_0123456789');
  await press(page, 'Store secret');
  await expect(page.getByText('The secret is stored.')).toBeVisible();
  await page.getByText('Give a public one').click();
  await page.getByLabel('Public address of this gateway').fill('https://gate.example.com');
  await isSound(page, 'webhook-vendor');
  await press(page, 'Use this address');
  await expect(page.getByText(/^https:\/\/gate\.example\.com\/api\/webhooks\/ingest\//)).toBeVisible();
  await press(page, 'Send a test');
  await expect(page.getByText('It arrived, but no model was there to answer.')).toBeVisible();
  expect((await home.rpc<{ webhooks: object[] }>('webhooks.list')).webhooks).toHaveLength(1);
});

test('the gateway is restarted in the middle of the first visit', async ({ gateway, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/onboarding');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await gateway.stop();
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await press(page, 'Set password');
  await expect(page.getByText('The gateway does not answer.')).toBeVisible();
  await gateway.run();
  await press(page, 'Set password');
  await storeRecoveryKey(page);
  await press(page, 'Skip for now');
  await expect(page.getByRole('radio', { name: 'OpenAI' })).toBeVisible();
  // The vault is sealed after a restart; it is opened in place, and the step goes on.
  await gateway.restart();
  await page.reload();
  await expect(page.getByText('The vault is sealed')).toBeVisible();
  await isSound(page, 'sealed-step');
  await press(page, 'Unlock');
  await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByRole('radio', { name: 'OpenAI' })).toBeVisible();
});

test('login: a wrong password, a return to where one wanted to go, a revoked session', async ({ home, page, context }) => {
  await context.clearCookies();
  await page.goto('/settings/vault?from=mail');
  await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  const field = page.getByLabel('Password', { exact: true });
  await expect(field).toBeFocused();
  await press(page, 'Log in');
  await expect(page.getByText('Type the password.')).toBeVisible();
  await isSound(page, 'login');
  await logInByPassword(page, 'wrong password');
  await expect(page.getByText('This password is not right.')).toBeVisible();
  await expect(field).toBeFocused();
  const selected = await field.evaluate((input: HTMLInputElement) => [input.selectionStart, input.selectionEnd]);
  expect(selected).toEqual([0, 'wrong password'.length]);
  await field.dispatchEvent('keydown', { key: 'A', modifierCapsLock: true });
  await expect(page.getByText('Caps Lock is on.')).toBeVisible();
  await page.getByText('Lost the password?').click();
  await expect(page.getByText('gatehouse auth reset')).toBeVisible();
  await isSound(page, 'login-wrong');
  await page.keyboard.type(PASSWORD);
  await field.fill(PASSWORD);
  await field.press('Enter');
  await isLive(page);
  await expect(page).toHaveURL(`${home.origin}/settings/vault?from=mail`);

  await home.call('DELETE', '/api/auth/sessions');
  await expect(page.getByText('You were logged out.')).toBeVisible();
  await isSound(page, 'login-ended');
  await expect(page).toHaveURL(`${home.origin}/settings/vault?from=mail`);
  await logInByPassword(page);
  await isLive(page);
});

test('login: too many tries are counted down', async ({ home, page, context }) => {
  await context.clearCookies();
  await page.clock.install();
  await page.goto('/chat');
  const field = page.getByLabel('Password', { exact: true });
  const button = page.getByRole('button', { name: 'Log in', exact: true });
  for (let tries = 0; tries < 5; tries++) {
    await logInByPassword(page, `wrong ${tries}`);
    await expect(page.getByText('This password is not right.')).toBeVisible();
    await expect(button).toBeEnabled();
  }
  await logInByPassword(page);
  const timer = page.getByRole('timer');
  await expect(timer).toHaveText(/You can try again in \d+ s\./);
  await expect(page.getByRole('status').filter({ hasText: 'You can try again in' })).toBeAttached();
  await expect(button).toBeDisabled();
  await isSound(page, 'login-wait');
  const seconds = Number(/in (\d+) s/.exec((await timer.textContent()) ?? '')?.[1]);
  await page.clock.runFor(5000);
  await expect.poll(async () => Number(/in (\d+) s/.exec((await timer.textContent()) ?? '')?.[1])).toBeLessThanOrEqual(seconds - 5);
  await page.clock.runFor(seconds * 1000);
  await expect(timer).toHaveCount(0);
  await expect(page.getByText('You can try again now.')).toBeAttached();
  await expect(button).toBeEnabled();
  await expect(field).toHaveValue(PASSWORD);
  expect(home.origin).toContain('localhost');
});

test('login: the gateway is restarted meanwhile, and the password opens the sealed vault', async ({ home, page, context, complaints }) => {
  complaints.allowDowntime();
  await context.clearCookies();
  await page.goto('/chat');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await home.stop();
  await press(page, 'Log in');
  await expect(page.getByText('What you typed stays here')).toBeVisible();
  await isSound(page, 'login-offline');
  await home.run();
  await expect(page.getByText('What you typed stays here')).toHaveCount(0);
  await expect(page.getByText('Logging in with the password opens it')).toBeVisible();
  await isSound(page, 'login-sealed');
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue(PASSWORD);
  await press(page, 'Log in');
  await isLive(page);
  await expect(page.getByText('The vault is sealed.')).toHaveCount(0);
});

test('everything by keyboard', async ({ gateway, page }) => {
  await page.goto('/onboarding');
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await page.keyboard.type(PASSWORD);
  await reach(page, page.getByLabel('Confirm password', { exact: true }));
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Store your recovery key')).toBeFocused();
  await reach(page, page.getByLabel('I stored it'));
  await page.keyboard.press('Space');
  await reach(page, page.getByRole('button', { name: 'Continue' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Add a passkey')).toBeFocused();
  await reach(page, page.getByRole('button', { name: 'Skip for now' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Choose a model provider')).toBeFocused();
  await reach(page, page.getByRole('button', { name: 'Skip for now' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Where should messages go?')).toBeFocused();
  await reach(page, page.getByRole('button', { name: 'Continue' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Create your first webhook')).toBeFocused();
  await reach(page, page.getByRole('button', { name: 'Create webhook' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'The webhook “My first webhook” is ready')).toBeFocused();
  await reach(page, page.getByLabel('I stored it'));
  await page.keyboard.press('Space');
  await reach(page, page.getByRole('button', { name: 'Continue' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'You are set up')).toBeFocused();
  await reach(page, page.getByRole('link', { name: 'Start a chat' }));
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${gateway.origin}/chat`);
});

/** Goes on with Tab until `target` has the focus. */
async function reach(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let steps = 0; steps < 40; steps++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab does not reach it');
}
