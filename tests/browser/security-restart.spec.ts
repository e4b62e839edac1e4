// Settings → Security, with a gateway that is killed: a passkey and a device, each created once or not at all.
import { cuttable, killBeforeTheAnswer } from './fixtures/downtime';
import { isLive } from './fixtures/entering';
import { connectDevice, dialog, section } from './fixtures/security';
import { authenticator, expect, PASSWORD, test, type Gateway } from './fixtures/test';

const passkeysOf = async (gateway: Gateway) =>
  (await gateway.call<{ passkeys: { name: string }[] }>('GET', '/api/auth/passkeys')).passkeys.map(({ name }) => name);

test.beforeEach(({ complaints }) => complaints.allowDowntime());

test('a passkey: the gateway is down when it is added', async ({ home, page, context }) => {
  const device = await authenticator(page);
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  await home.stop('SIGKILL');
  const go = dialog(page).getByRole('button', { name: 'Continue' });
  await go.click();
  await expect(dialog(page).getByRole('alert')).toContainText('The gateway is not responding.');
  // The error is not shown at the name field.
  await expect(dialog(page).getByLabel('Name')).not.toHaveAttribute('aria-invalid', 'true');
  await expect(dialog(page).getByLabel('Name')).toHaveValue('Work laptop');
  await home.run();
  await go.click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(passkeys.getByText('Work laptop', { exact: true })).toHaveCount(1);
  await isLive(page);
  expect(await passkeysOf(home)).toEqual(['Work laptop']);

  // It can be used to log in after another restart.
  await home.restart('SIGKILL');
  await device.presence(false);
  await context.clearCookies();
  await page.goto('/settings/security');
  await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  await device.presence(true);
  await page.getByRole('button', { name: 'Log in with a passkey' }).click({ timeout: 5_000 }).catch(() => undefined);
  await expect(page.getByRole('heading', { name: 'Security' })).toBeVisible();
});

test('a passkey: the gateway is killed while the device asks for confirmation', async ({ home, page }) => {
  await authenticator(page);
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  const go = dialog(page).getByRole('button', { name: 'Continue' });
  await page.route(
    /passkey\/register\/finish$/,
    async (route) => {
      await home.stop('SIGKILL');
      await route.continue();
    },
    { times: 1 },
  );
  await go.click();
  await expect(dialog(page).getByRole('alert')).toContainText('The gateway is not responding.');
  await expect(dialog(page).getByLabel('Name')).toHaveValue('Work laptop');
  await home.run();
  // The challenge is lost, so the page starts again, and the device replaces the passkey that was never registered.
  await go.click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(passkeys.getByText('Work laptop', { exact: true })).toHaveCount(1);
  expect(await passkeysOf(home)).toEqual(['Work laptop']);
});

test('a passkey: stored, but the response is lost', async ({ home, page }) => {
  await authenticator(page);
  const { killed } = await killBeforeTheAnswer(page, home, '/api/auth/passkey/register/finish');
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  const go = dialog(page).getByRole('button', { name: 'Continue' });
  await go.click();
  await killed;
  await expect(dialog(page).getByRole('alert')).toContainText('The gateway is not responding.');
  await home.run();
  // The list updates automatically behind the dialog; the device refuses a second attempt, and there is no duplicate.
  await expect(passkeys.getByText('Work laptop', { exact: true })).toHaveCount(1);
  await go.click();
  await expect(dialog(page).getByRole('alert')).toContainText('already has a passkey for this gateway');
  await page.keyboard.press('Escape');
  expect(await passkeysOf(home)).toEqual(['Work laptop']);
});

test('a device: the gateway is down when it is paired, and again while the token is shown', async ({ home, page }) => {
  const line = await cuttable(page);
  await page.goto('/settings/security/access');
  const devices = section(page, 'Paired devices');
  await isLive(page);
  await devices.getByRole('button', { name: 'Pair a device' }).click();
  await dialog(page).getByLabel('Label').fill('kitchen tablet');
  await dialog(page).getByLabel('Write').uncheck();
  line.cut();
  await home.stop('SIGKILL');
  // Until the page knows, it would send the request and could not tell whether it was carried out.
  await expect(page.getByText('Live', { exact: true })).toHaveCount(0);
  const pair = dialog(page).getByRole('button', { name: 'Pair', exact: true });
  await pair.click();
  await expect(dialog(page).getByRole('alert')).toContainText('The gateway is not responding.');
  await home.run();
  // The gateway is back, but the live connection is not: the vault is sealed and unlocked from here, and the dialog continues.
  await pair.click();
  await dialog(page).getByRole('alert').getByRole('button', { name: 'Unlock' }).click();
  const unlock = page.getByRole('dialog', { name: 'Unlock the vault' });
  await unlock.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await unlock.getByRole('button', { name: 'Unlock', exact: true }).click();
  const token = await dialog(page).locator('code').first().innerText();
  // The token stays visible while the gateway restarts.
  await home.restart('SIGKILL');
  line.mend();
  await isLive(page);
  await expect(dialog(page).locator('code').first()).toHaveText(token);
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  const row = devices.getByRole('listitem');
  await expect(row).toHaveCount(1);
  await expect(row).toContainText('kitchen tablet');
  await expect(row).not.toContainText('Write');
  const tablet = await connectDevice(page, home, token);
  expect(tablet.letIn).toBe(true);
  await tablet.leave();
});

test('a device: paired, but the token is lost: the next attempt leaves one device, with the token shown', async ({ home, page }) => {
  // Another device of the same name, which has never connected either.
  await home.rpc('pairing.create', { label: 'kitchen tablet', scopes: ['operator.read'] });
  const { killed } = await killBeforeTheAnswer(page, home, 'pairing.create');
  await page.goto('/settings/security/access');
  const row = section(page, 'Paired devices').getByRole('listitem');
  await isLive(page);
  await expect(row).toHaveCount(1);
  await section(page, 'Paired devices').getByRole('button', { name: 'Pair a device' }).click();
  await dialog(page).getByLabel('Label').fill('kitchen tablet');
  const pair = dialog(page).getByRole('button', { name: 'Pair', exact: true });
  await pair.click();
  await killed;
  await expect(dialog(page).getByRole('alert')).toContainText('may or may not have been carried out');
  await expect(dialog(page).getByLabel('Label')).toHaveValue('kitchen tablet');
  await home.run();
  await isLive(page);
  await expect(row).toHaveCount(2);
  await pair.click();
  const token = await dialog(page).locator('code').first().innerText();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await page.reload();
  await expect(row).toHaveCount(2);
  const tablet = await connectDevice(page, home, token);
  expect(tablet.letIn).toBe(true);
  await tablet.leave();
});
