// Settings, Security: passkeys and the password: added, changed, removed, and the last way in.
import { dialog, elsewhere, section, told } from './fixtures/security';
import { authenticator, expect, PASSWORD, test, watch } from './fixtures/test';

test('a passkey is added, renamed, logs in, and is removed', async ({ home, page, context }) => {
  const device = await authenticator(page);
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(dialog(page).getByLabel('Name')).toHaveValue('Linux');
  await dialog(page).getByLabel('Name').fill(' ');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('alert')).toHaveText('Give it a name.');
  await expect(dialog(page).getByLabel('Name')).toBeFocused();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(passkeys.getByText('Work laptop', { exact: true })).toBeVisible();

  // The same device once more: the browser refuses, and the page says why.
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Again');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('holds a passkey');
  await page.keyboard.press('Escape');

  await passkeys.getByRole('button', { name: 'Actions for Work laptop' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await dialog(page).getByLabel('Name').fill('Old laptop');
  await dialog(page).getByRole('button', { name: 'Rename' }).click();
  await expect(passkeys.getByText('Old laptop', { exact: true })).toBeVisible();

  // Untouched at first, or the login would take it before anybody pressed anything.
  await device.presence(false);
  await context.clearCookies();
  await page.goto('/settings/security');
  const byPasskey = page.getByRole('button', { name: 'Log in with a passkey' });
  await byPasskey.waitFor();
  await device.presence(true);
  // The browser's own offer may be taken before the button is pressed: that is a login, too.
  await byPasskey.click({ timeout: 5_000 }).catch(() => undefined);
  await expect(page.getByRole('heading', { name: 'Security' })).toBeVisible();
  await expect(section(page, 'Sessions').getByRole('listitem').filter({ hasText: 'This device' })).toContainText(
    'by passkey',
  );

  await passkeys.getByRole('button', { name: 'Actions for Old laptop' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await dialog(page).getByLabel('Type Old laptop to confirm').fill('Old laptop');
  await dialog(page).getByRole('button', { name: 'Remove' }).click();
  await expect(passkeys.getByText('No passkey yet')).toBeVisible();
  expect((await home.call<{ passkeys: unknown[] }>('GET', '/api/auth/passkeys')).passkeys).toEqual([]);
});

test('an address that passkeys cannot be bound to says so', async ({ home, page, context, complaints }) => {
  const numbers = `http://127.0.0.1:${home.port}`;
  watch(context, numbers, complaints);
  complaints.allow(new RegExp(`left the origin: (http|ws)://127.0.0.1:${home.port}`));
  const [name = '', value = ''] = home.cookie.split('=');
  await context.addCookies([{ name, value, url: numbers, httpOnly: true, sameSite: 'Strict' }]);
  await page.goto(`${numbers}/settings/security`);
  const passkeys = section(page, 'Passkeys');
  await expect(passkeys.getByRole('link', { name: /localhost/ })).toBeVisible();
  await expect(passkeys.getByRole('button', { name: 'Add a passkey' })).toHaveCount(0);
});

test('the last way in stays; the first password makes the vault', async ({ gateway, page }) => {
  await authenticator(page);
  // Set up by passkey alone, by the ceremony itself.
  await page.goto('/');
  await page.evaluate(async () => {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`/api/auth/passkey/register/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const begun = await post('begin', {});
    const { publicKey } = begun.options as { publicKey: PublicKeyCredentialCreationOptionsJSON };
    const credential = (await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
    })) as PublicKeyCredential;
    await post('finish', { challenge_id: begun.challenge_id, name: 'Only one', credential: credential.toJSON() });
  });
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await expect(passkeys.getByText('Last way in', { exact: true })).toBeVisible();
  await expect(passkeys.getByText('The last way in cannot be removed.')).toBeVisible();
  await passkeys.getByRole('button', { name: 'Actions for Only one' }).click();
  await expect(page.getByRole('menuitem', { name: 'Remove' })).toBeDisabled();
  await page.keyboard.press('Escape');

  await section(page, 'Password').getByRole('button', { name: 'Set a password' }).click();
  await dialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog(page).getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await dialog(page).getByRole('button', { name: 'Set a password' }).click();
  const shown = dialog(page).getByText(/^([A-Z2-9]{4}-){7}[A-Z2-9]{4}$/);
  await expect(shown).toBeVisible();
  // It stays until the person says so, whatever is pressed.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(shown).toBeVisible();
  await dialog(page).getByLabel('I stored it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(section(page, 'Password').getByRole('button', { name: 'Change the password' })).toBeVisible();
  await expect(passkeys.getByText('Last way in', { exact: true })).toHaveCount(0);
  expect((await gateway.call<{ status: string }>('GET', '/api/auth/vault/status')).status).toBe('unsealed');
});

test('the password is changed: rules while typing, other sessions end', async ({ home, page, browser, complaints }) => {
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  await otherPage.goto('/settings/security');
  await expect(otherPage.getByRole('heading', { name: 'Sessions' })).toBeVisible();
  await page.goto('/settings/security');
  await section(page, 'Password').getByRole('button', { name: 'Change the password' }).click();
  await expect(dialog(page)).toContainText('The other session ends');
  const rules = dialog(page).getByRole('list', { name: 'What the password must be' });
  const action = dialog(page).getByRole('button', { name: 'Change the password' });
  await dialog(page).getByLabel('Current password', { exact: true }).fill('not the password');
  await dialog(page).getByLabel('New password', { exact: true }).fill('too short');
  await expect(rules.getByText('(3 to go)')).toBeVisible();
  await expect(action).toBeDisabled();
  await dialog(page).getByLabel('New password', { exact: true }).fill('another long password');
  await dialog(page).getByLabel('New password again', { exact: true }).fill('another long password');
  await action.click();
  await expect(dialog(page).getByRole('alert')).toHaveText('This is not the current password.');
  await expect(dialog(page).getByLabel('Current password', { exact: true })).toBeFocused();
  await dialog(page).getByLabel('Current password', { exact: true }).fill(PASSWORD);
  await action.click();
  await expect(told(page, 'The password was changed')).toBeVisible();
  // The other window shows the login where it stands.
  await expect(otherPage.getByRole('heading', { name: 'Sessions' })).toHaveCount(0);
  await expect(otherPage.getByLabel('Password', { exact: true })).toBeVisible();
  const login = (password: string) => other.request.post(`${home.origin}/api/auth/login`, { data: { password } });
  expect((await login(PASSWORD)).status()).toBe(401);
  expect((await login('another long password')).status()).toBe(200);
  await other.close();
});
