// The first visit: setup of an empty gateway, locally and remotely, with a password and with a passkey.
import { choosePassword, heading, isLive, isSound, KEY, logInByPassword, press, reach, storeRecoveryKey } from './fixtures/entering';
import { ModelServer } from './fixtures/model';
import { authenticator, expect, PASSWORD, test } from './fixtures/test';

test('local first visit: from a password to a webhook that an agent answers', async ({ gateway, page }) => {
  const model = await ModelServer.start();
  model.next({ text: ['A test event came. ', 'Nothing to do.'] });
  await page.goto('/');
  await expect(page).toHaveURL(`${gateway.origin}/onboarding`);
  await expect(page.getByLabel('Setup code')).toHaveCount(0);

  // The page shows the password rules while typing, and reports errors at the fields.
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toBeFocused();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('too short');
  await expect(page.getByText('(3 to go)')).toBeVisible();
  await press(page, 'Set password');
  await expect(page.getByText('Use at least 12 characters.')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toBeFocused();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await expect(page.getByText('At least 12 characters: done')).toBeVisible();
  await page.getByLabel('Confirm password', { exact: true }).fill('something else');
  await press(page, 'Set password');
  await expect(page.getByText('The passwords do not match.')).toBeVisible();
  await isSound(page, 'access');
  await choosePassword(page);

  // The recovery key cannot be skipped by accident, and can be copied and downloaded.
  await expect(heading(page, 'Save your recovery key')).toBeFocused();
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
  // The file must say what it is for, even when it is opened years later.
  const { host } = new URL(gateway.origin);
  const today = new Date().toISOString().slice(0, 10);
  expect(file.suggestedFilename()).toBe(`gatehouse-recovery-key-${host.replace(':', '-')}-${today}.txt`);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString();
  for (const part of ['Gatehouse recovery key', `\n${shown}\n`, `Gateway: ${host}`, `Created: ${today}`, 'unlocks the vault']) {
    expect(text).toContain(part);
  }
  await storeRecoveryKey(page);
  await expect(page.getByText(KEY)).toHaveCount(0);

  await expect(heading(page, 'Add a passkey')).toBeFocused();
  await isSound(page, 'passkey');
  await press(page, 'Skip for now');

  // A key that does not work is reported and not stored; a valid one continues.
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
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  await expect(page.getByText('A test event came. Nothing to do.')).toBeVisible();
  await isSound(page, 'webhook-ready');
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');

  await expect(heading(page, 'You’re all set')).toBeVisible();
  await expect(page.getByText('Model connected')).toBeVisible();
  await expect(page.getByText('Webhook created, waiting for deliveries')).toBeVisible();
  await isSound(page, 'done');
  await page.getByRole('link', { name: 'Start a chat' }).click();
  await isLive(page);
  await expect(page).toHaveURL(`${gateway.origin}/chat`);

  // After setup, `/` leads to the app, and the URL of a step leads to that step.
  await page.goto('/onboarding');
  await expect(page).toHaveURL(`${gateway.origin}/overview`);
  await page.goto('/onboarding?step=done');
  await expect(heading(page, 'You’re all set')).toBeVisible();
  await model.close();
});

test.describe('from another machine', () => {
  test.use({ environment: { SERVICE_BEHIND_PROXY: 'true' } });

  test('first visit: one page asks for the setup code and says where to find it', async ({ gateway, page }) => {
    await page.goto('/');
    await expect(page).toHaveURL(`${gateway.origin}/onboarding`);
    const code = page.getByLabel('Setup code');
    await expect(code).toBeFocused();
    await expect(page.getByText('printed where the gateway was started')).toBeVisible();
    await page.getByText('Where do I find it?').click();
    await expect(page.getByText('gatehouse auth setup-code')).toBeVisible();
    await isSound(page, 'remote');
    await choosePassword(page);
    await expect(page.getByText('Enter the setup code.')).toBeVisible();
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

  test('the gateway restarts during setup: input is kept, and the code printed at startup works', async ({
    gateway,
    page,
    complaints,
  }) => {
    complaints.allowDowntime();
    await page.goto('/');
    await page.getByLabel('Setup code').fill(gateway.setupCode);
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
    await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
    await gateway.stop('SIGKILL');
    await press(page, 'Set password');
    await expect(page.getByText('The gateway is not responding.')).toBeVisible();
    await gateway.run();
    await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toHaveValue(PASSWORD);
    await page.getByLabel('Setup code').fill(gateway.setupCode);
    await press(page, 'Set password');
    await storeRecoveryKey(page);
    await expect(heading(page, 'Add a passkey')).toBeVisible();
  });

  test('someone else completed setup first', async ({ gateway, page }) => {
    await page.goto('/');
    await page.getByLabel('Setup code').fill(gateway.setupCode);
    await gateway.call('POST', '/api/auth/setup', { password: PASSWORD, setup_code: gateway.setupCode });
    await choosePassword(page);
    await expect(page.getByText('Someone else completed the setup.')).toBeVisible();
    await press(page, 'Go to login');
    await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  });
});

test('first visit with only a passkey, then a password for the vault; login with the passkey', async ({ gateway, page, context }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await page.getByRole('radio', { name: 'Passkey only' }).check();
  await press(page, 'Create passkey');
  await expect(heading(page, 'Protect stored secrets')).toBeVisible();
  await isSound(page, 'protect');
  await choosePassword(page);
  await storeRecoveryKey(page);
  await expect(heading(page, 'Choose a model provider')).toBeVisible();

  // The authenticator stays untouched until the button is visible; otherwise autofill logs in immediately.
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

test('a reload during setup continues at the same step', async ({ gateway, page }) => {
  await page.goto('/onboarding');
  await choosePassword(page);
  await expect(page.getByText(KEY)).toBeVisible();
  const first = await page.getByText(KEY).textContent();
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await expect(heading(page, 'Did you save your recovery key?')).toBeVisible();
  await isSound(page, 'recovery-again');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('something wrong');
  await press(page, 'Create a new recovery key');
  await expect(page.getByText('Incorrect password.')).toBeVisible();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await press(page, 'Create a new recovery key');
  await expect(page.getByText(KEY)).toBeVisible();
  expect(await page.getByText(KEY).textContent()).not.toBe(first);
  await storeRecoveryKey(page);
  await press(page, 'Skip for now');
  // The button of the next step has the same name.
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await press(page, 'Skip for now');
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await page.reload();
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  await page.goBack();
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  // After the session ends, the page asks for the login again and the step continues.
  await page.context().clearCookies();
  await page.reload();
  await logInByPassword(page);
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await page.goto('/onboarding?step=webhook');
  await press(page, 'Create webhook');
  await expect(page.getByText('Secret, sent in the header X-Webhook-Secret (shown only once)')).toBeVisible();
  await page.reload();
  await expect(page.getByText('The secret was shown once')).toBeVisible();
  await press(page, 'Create a new secret');
  await expect(page.getByText('Secret, sent in the header X-Webhook-Secret (shown only once)')).toBeVisible();
  expect(page.url()).toBe(`${gateway.origin}/onboarding?step=webhook`);
});

test('the gateway restarts during the first visit', async ({ gateway, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/onboarding');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await gateway.stop();
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await press(page, 'Set password');
  await expect(page.getByText('The gateway is not responding.')).toBeVisible();
  await gateway.run();
  await press(page, 'Set password');
  await storeRecoveryKey(page);
  await press(page, 'Skip for now');
  await expect(page.getByRole('radio', { name: 'OpenAI' })).toBeVisible();
  // The vault is sealed after a restart; it is unlocked in place, and the step continues.
  await gateway.restart();
  await page.reload();
  await expect(page.getByText('The vault is sealed')).toBeVisible();
  await isSound(page, 'sealed-step');
  await press(page, 'Unlock');
  await page.getByRole('dialog').getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByRole('radio', { name: 'OpenAI' })).toBeVisible();
});

test('keyboard-only setup', async ({ gateway, page }) => {
  await page.goto('/onboarding');
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toBeFocused();
  await page.keyboard.type(PASSWORD);
  await reach(page, page.getByLabel('Confirm password', { exact: true }));
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Save your recovery key')).toBeFocused();
  await reach(page, page.getByLabel('I’ve saved it'));
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
  await reach(page, page.getByLabel('I’ve saved it'));
  await page.keyboard.press('Space');
  await reach(page, page.getByRole('button', { name: 'Continue' }));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Almost ready')).toBeFocused();
  await reach(page, page.getByRole('link', { name: 'View deliveries' }));
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${gateway.origin}/deliveries`);
});
