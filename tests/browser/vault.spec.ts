// Settings → Vault: sealing and unlocking, its keys, turning it off and on, and restarts in between.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { expect, PASSWORD, test, type Gateway } from './fixtures/test';

const RECOVERY_KEY = /^([A-Z2-9]{4}-){7}[A-Z2-9]{4}$/;
const WRONG_RECOVERY_KEY = 'AAAA-BBBB-CCCC-DDDD-EEEE-FFFF-GGGG-HHHH';

const dialog = (page: Page) => page.getByRole('dialog');
const state = (page: Page, words: string) => page.getByRole('heading', { name: words, exact: true });
const sealedBanner = (page: Page) =>
  page.getByText('Stored secrets cannot be read, and new deliveries are refused', { exact: false });
const OPEN = 'The vault is unlocked';
const SEALED = 'The vault is sealed';
const OFF = 'The vault is off';

async function unlock(page: Page, way: 'password' | 'recovery key', secret: string): Promise<void> {
  if (!(await dialog(page).isVisible())) {
    // The banner moves the button when it appears.
    await expect(sealedBanner(page)).toBeVisible();
    await page.getByRole('button', { name: 'Unlock' }).click();
    await expect(dialog(page).getByRole('textbox').first()).toBeVisible();
  }
  if (way === 'recovery key' && (await dialog(page).getByRole('button', { name: 'Use recovery key instead' }).isVisible()))
    await dialog(page).getByRole('button', { name: 'Use recovery key instead' }).click();
  await dialog(page)
    .getByLabel(way === 'password' ? 'Password' : 'Recovery key', { exact: true })
    .fill(secret);
  await dialog(page).getByRole('button', { name: 'Unlock', exact: true }).click();
}

/** Opens a dialog that asks for the password, and submits it. */
async function byPassword(page: Page, open: string, action: string, password = PASSWORD): Promise<void> {
  if (!(await dialog(page).isVisible())) await page.getByRole('button', { name: open, exact: true }).click();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await dialog(page).getByRole('button', { name: action, exact: true }).click();
}

async function storeShownKey(page: Page): Promise<string> {
  const shown = dialog(page).getByText(RECOVERY_KEY);
  await expect(shown).toBeVisible();
  const key = await shown.innerText();
  await expect(dialog(page).getByRole('button', { name: 'Done' })).toBeDisabled();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.locator('body')).not.toContainText(key);
  return key;
}

const storedEncrypted = async (gateway: Gateway): Promise<boolean[]> => {
  const { env_variables } = await gateway.rpc<{ env_variables: { encrypted: boolean }[] }>('env.list');
  return env_variables.map((one) => Boolean(one.encrypted));
};

test('sealing, and unlocking with the password and the recovery key; wrong ones are reported', async ({ home, page }) => {
  await page.goto('/vault');
  await expect(state(page, OPEN)).toBeVisible();
  await page.getByRole('button', { name: 'Seal now' }).click();
  await expect(dialog(page)).toContainText('Webhook deliveries are refused');
  await dialog(page).getByRole('button', { name: 'Seal now' }).click();
  await expect(state(page, SEALED)).toBeVisible();
  // The banner is shown on every page.
  await expect(sealedBanner(page)).toBeVisible();
  expect(await home.call('GET', '/api/auth/vault/status')).toEqual({ status: 'sealed' });
  await expect(dialog(page)).toHaveCount(0);

  await unlock(page, 'password', 'this is not it, really');
  await expect(dialog(page).getByRole('alert')).toHaveText('Incorrect password.');
  await unlock(page, 'password', PASSWORD);
  await expect(state(page, OPEN)).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);

  // Sealed in another window: this one updates automatically.
  await home.call('POST', '/api/auth/vault/seal');
  await expect(state(page, SEALED)).toBeVisible();
  await unlock(page, 'recovery key', WRONG_RECOVERY_KEY);
  await expect(dialog(page).getByRole('alert')).toHaveText('This recovery key does not unlock the vault.');
  // Hyphens and case of the key do not matter.
  await unlock(page, 'recovery key', home.recoveryKey.toLowerCase().replaceAll('-', ''));
  await expect(state(page, OPEN)).toBeVisible();
  await expect(sealedBanner(page)).toHaveCount(0);
});

test('rotation and a new recovery key: the old one is refused, the new one works', async ({ home, page }) => {
  for (let at = 0; at < 40; at++) await home.rpc('env.set', { key: `KEY_${at}`, value: 'v' });
  await page.goto('/vault');
  await byPassword(page, 'Rotate the key', 'Rotate', 'not the password at all');
  await expect(dialog(page).getByRole('alert')).toHaveText('Incorrect password.');
  await byPassword(page, 'Rotate the key', 'Rotate');
  const rotated = await storeShownKey(page);
  expect(rotated).not.toBe(home.recoveryKey);
  await home.call('POST', '/api/auth/vault/seal');
  await unlock(page, 'recovery key', home.recoveryKey);
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await unlock(page, 'recovery key', rotated);
  await expect(state(page, OPEN)).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);

  await byPassword(page, 'Create a new recovery key', 'Create');
  const renewed = await storeShownKey(page);
  await home.call('POST', '/api/auth/vault/seal');
  await unlock(page, 'recovery key', rotated);
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await unlock(page, 'recovery key', renewed);
  await expect(state(page, OPEN)).toBeVisible();
  expect(await storedEncrypted(home)).toEqual(Array(40).fill(true));
});

test('the vault is turned off with a report, and on again', async ({ home, page }) => {
  await home.rpc('env.set', { key: 'ONE', value: 'v' });
  await home.rpc('ssh_keys.generate', { name: 'deploy' });
  await page.goto('/vault');
  await page.getByRole('button', { name: 'Turn off…' }).click();
  await expect(dialog(page)).toContainText('Every stored secret is decrypted');
  const action = dialog(page).getByRole('button', { name: 'Decrypt and turn off' });
  await expect(action).toBeDisabled();
  await dialog(page).getByLabel('Type turn off the vault to confirm').fill('turn off the vault');
  await action.click();
  await expect(state(page, OFF)).toBeVisible();
  const report = page.getByRole('region', { name: 'What was decrypted' });
  await expect(report).toContainText(/Environment variables\s*1/);
  await expect(report).toContainText(/SSH keys\s*1/);
  await expect(report).toContainText('Restart the gateway');
  expect(await storedEncrypted(home)).toEqual([false]);
  expect(await violations(page)).toEqual([]);
  await byPassword(page, 'Turn on the vault', 'Turn on', 'not the password at all');
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await byPassword(page, 'Turn on the vault', 'Turn on');
  await expect(state(page, OPEN)).toBeVisible();
  expect(await storedEncrypted(home)).toEqual([true]);
  // Turning it off while sealed needs the password.
  await home.call('POST', '/api/auth/vault/seal');
  await expect(state(page, SEALED)).toBeVisible();
  await page.getByRole('button', { name: 'Turn off…' }).click();
  await dialog(page).getByLabel('Type turn off the vault to confirm').fill('turn off the vault');
  await expect(action).toBeDisabled();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill('not the password at all');
  await action.click();
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await action.click();
  await expect(state(page, OFF)).toBeVisible();
});

test.describe('without a vault', () => {
  test.use({ environment: { SERVICE_AUTH__VAULT_ENABLED: 'false' } });

  test('one is created when it is allowed again', async ({ home, page, complaints }) => {
    complaints.allowDowntime();
    await page.goto('/vault');
    await expect(state(page, OFF)).toBeVisible();
    // The environment decides, and the page shows the error of the gateway.
    await byPassword(page, 'Turn on the vault', 'Turn on');
    await expect(dialog(page).getByRole('alert')).toContainText('environment');
    await page.keyboard.press('Escape');
    delete home.environment.SERVICE_AUTH__VAULT_ENABLED;
    await home.restart();
    await page.reload();
    await expect(state(page, 'There is no vault yet')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await byPassword(page, 'Create a vault', 'Create');
    const key = await storeShownKey(page);
    await expect(state(page, OPEN)).toBeVisible();
    await home.call('POST', '/api/auth/vault/seal');
    await unlock(page, 'recovery key', key);
    await expect(state(page, OPEN)).toBeVisible();
  });
});

test('after a restart: sealed, reported on every page, unlocked in place', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await home.rpc('env.set', { key: 'ONE', value: 'v' });
  await page.goto('/vault');
  await expect(state(page, OPEN)).toBeVisible();
  // A restart while a dialog waits for the password: it stays open, reports what happened, and works afterwards.
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await home.stop('SIGKILL');
  await dialog(page).getByRole('button', { name: 'Rotate', exact: true }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('may or may not have been');
  await home.run();
  await page.keyboard.press('Escape');
  await expect(state(page, SEALED)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Rotate the key' })).toBeDisabled();
  await unlock(page, 'recovery key', home.recoveryKey);
  await expect(state(page, OPEN)).toBeVisible();

  // A restart while the unlock dialog is open, reached from the banner of another page.
  await home.restart();
  await page.goto('/settings/security');
  await page.getByRole('button', { name: 'Unlock', exact: true }).click();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await home.stop();
  await dialog(page).getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await home.run();
  await dialog(page).getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByText('The vault is sealed.', { exact: false })).toHaveCount(0);

  // The recovery key stays visible while the gateway is down, because it is shown only once.
  await page.goto('/vault');
  await byPassword(page, 'Create a new recovery key', 'Create');
  await expect(dialog(page).getByText(RECOVERY_KEY)).toBeVisible();
  await home.restart();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const renewed = await storeShownKey(page);
  await expect(state(page, SEALED)).toBeVisible();
  await unlock(page, 'recovery key', renewed);
  await expect(state(page, OPEN)).toBeVisible();

  // Turning the vault off while the gateway is down changes nothing, and the page says so.
  await page.getByRole('button', { name: 'Turn off…' }).click();
  await dialog(page).getByLabel('Type turn off the vault to confirm').fill('turn off the vault');
  await home.stop();
  await dialog(page).getByRole('button', { name: 'Decrypt and turn off' }).click();
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await page.keyboard.press('Escape');
  await home.run();
  await expect(state(page, SEALED)).toBeVisible();
});

test('an outdated response does not overwrite newer state', async ({ home, page }) => {
  await page.goto('/vault');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  let answered = () => undefined as void;
  const late = new Promise<void>((resolve) => (answered = resolve));
  await page.route('**/api/auth/vault/seal', async (route) => {
    const response = await route.fetch();
    await late;
    await route.fulfill({ response });
  });
  await page.getByRole('button', { name: 'Seal now' }).click();
  await dialog(page).getByRole('button', { name: 'Seal now' }).click();
  await expect(state(page, SEALED)).toBeVisible();
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  await expect(state(page, OPEN)).toBeVisible();
  answered();
  await expect(dialog(page)).toHaveCount(0);
  await expect(state(page, OPEN)).toBeVisible();
});

test('new secrets while sealed: plaintext or refused, as configured', async ({ home, page }) => {
  await page.goto('/vault');
  const plaintext = page.getByRole('switch', { name: 'Accept new secrets while sealed (unencrypted)' });
  await expect(plaintext).toBeChecked();
  await plaintext.click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('New secrets are refused')).toBeVisible();
  await page.reload();
  await expect(plaintext).not.toBeChecked();
  await home.call('POST', '/api/auth/vault/seal');
  await expect(page.getByText('While the vault is sealed, new environment variables', { exact: false })).toBeVisible();
});

test('accessibility in both themes, no horizontal scroll, sealing and unlocking by keyboard', async ({ home, page }) => {
  await page.goto('/vault');
  const looks = async (what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect(await violations(page), `${what} ${colorScheme}`).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  await expect(state(page, OPEN)).toBeVisible();
  await looks('open');
  await page.getByRole('button', { name: 'Seal now' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toBeVisible();
  await looks('sealing');
  for (const name of ['Cancel', 'Seal now']) {
    await page.keyboard.press('Tab');
    await expect(dialog(page).getByRole('button', { name })).toBeFocused();
  }
  await page.keyboard.press('Enter');
  await expect(state(page, SEALED)).toBeVisible();
  await looks('sealed');
  await page.getByRole('button', { name: 'Unlock the vault' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByRole('textbox', { name: 'Password', exact: true })).toBeFocused();
  await looks('unlocking');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await expect(state(page, OPEN)).toBeVisible();
  expect(await home.call('GET', '/api/auth/vault/status')).toEqual({ status: 'unsealed' });
});
