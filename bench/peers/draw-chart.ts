import { LineChart } from "echarts/charts";
import { GraphicComponent, GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly Line[];
  /** Each line of its grid is ten times the one before. `x`: along the bottom alone. */
  readonly isLogarithmic: boolean | "x";
}

use([LineChart, GridComponent, LegendComponent, TitleComponent, GraphicComponent, SVGRenderer]);

const WIDTH = 860;
const HEIGHT = 460;
const FONT = "system-ui, sans-serif";

/** An SVG picture. `under` says where and when the figures were measured. */
export function drawChart({ title, x, y, lines, isLogarithmic }: Chart, under: string): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: HEIGHT });
  const axis = (name: string, isLog: boolean) => ({
    type: isLog ? ("log" as const) : ("value" as const),
    name,
    nameLocation: "middle" as const,
    axisLabel: { formatter: (value: number) => value.toLocaleString("en") },
    splitLine: { lineStyle: { color: "#e5e7eb" } },
  });
  chart.setOption({
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: FONT },
    title: { text: title, left: 16, top: 10, subtext: under },
    legend: { orient: "vertical", right: 12, top: 80 },
    grid: { left: 76, right: 260, top: 80, bottom: 56 },
    xAxis: { ...axis(x, isLogarithmic !== false), nameGap: 32 },
    yAxis: { ...axis(y, isLogarithmic === true), nameGap: 52 },
    series: lines.map(({ name, points }) => ({
      type: "line",
      name,
      data: points.map((point) => [...point]),
      symbolSize: 7,
      // Ours stand out.
      lineStyle: { width: /pawl/i.test(name) ? 3.5 : 1.5 },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // A picture has a title for those who hear it, and nothing to point at.
  return svg.replace(/<style.*<\/style>\n?/s, "").replace(/^<svg[^>]*>/, `$&<title>${title}</title>`);
}
