// What an accessibility checker finds on the page as it is now.
import AxeBuilder from '@axe-core/playwright';

export async function violations(page) {
  const Builder = AxeBuilder.default ?? AxeBuilder;
  const report = await new Builder({ page }).analyze();
  return report.violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.html).join(' | ')}`);
}
