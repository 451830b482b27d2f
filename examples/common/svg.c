// SPDX-License-Identifier: Apache-2.0
// A scatter plot of clustered 2-D points as an SVG picture (svg.h).
#include "svg.h"

#include "svg_spots.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 960, LONGEST_HEIGHT = 760, SHORTEST_HEIGHT = 240,       // of the area of the points, in picture units
    LEFT = 64, TOP = 66, BOTTOM = 54, RIGHT = 20, LEGEND = 150,
    MOST_SPOTS = 45000, MOST_CENTERS = 10000, MOST_NUMBERED = 24,   // about 15 bytes a spot
    COLOURS = 60,
};

typedef struct picture {
    FILE *out;
    const svg_plot *plot;
    spot_view view;
    double bottom, right;       // of the data that the area shows
    bool numbered;              // centers with numbers, and a legend
} picture;

static const char font[] = "font-family=\"Helvetica,Arial,'DejaVu Sans',sans-serif\"";

// --- Where things lie ---

typedef struct bounds { double low, high; } bounds;

static void widen(bounds *b, float value)
{
    if (!isfinite(value)) return;
    if (value < b->low) b->low = value;
    if (value > b->high) b->high = value;
}

static void widen_by_rows(bounds *x, bounds *y, const float *rows, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(rows[2 * i]) || !isfinite(rows[2 * i + 1])) continue;
        widen(x, rows[2 * i]);
        widen(y, rows[2 * i + 1]);
    }
}

// A margin around the data; an empty or single-valued axis gets a width.
static void add_margin(bounds *b)
{
    if (b->low > b->high) *b = (bounds){0, 0};
    double margin = 0.03 * (b->high - b->low);
    if (!(margin > 1e-6 * fabs(b->high))) margin = b->high == b->low && b->high == 0 ? 1 : 1e-3 * fabs(b->high);
    b->low -= margin;
    b->high += margin;
}

// One scale for both axes; the shorter side of the data is centered in what is left.
static void fit(picture *p)
{
    bounds x = {INFINITY, -INFINITY}, y = {INFINITY, -INFINITY};
    widen_by_rows(&x, &y, p->plot->points, p->plot->count);
    widen_by_rows(&x, &y, p->plot->centers, p->plot->k);
    add_margin(&x);
    add_margin(&y);
    double wide = x.high - x.low, high = y.high - y.low, height = WIDTH * high / wide;
    height = height < SHORTEST_HEIGHT ? SHORTEST_HEIGHT : height > LONGEST_HEIGHT ? LONGEST_HEIGHT : ceil(height);
    double scale = fmin(WIDTH / wide, height / high);
    p->view = (spot_view){(x.low + x.high) / 2 - WIDTH / scale / 2, (y.low + y.high) / 2 + height / scale / 2, scale, WIDTH, height};
    p->right = p->view.left + WIDTH / scale;
    p->bottom = p->view.top - height / scale;
}

static double x_of(const picture *p, double x) { return LEFT + (x - p->view.left) * p->view.scale; }
static double y_of(const picture *p, double y) { return TOP + (p->view.top - y) * p->view.scale; }

// --- Texts and colours ---

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", out);
        else if (*text == '>') fputs("&gt;", out);
        else if (*text == '&') fputs("&amp;", out);
        else if ((unsigned char)*text >= 0x20) fputc(*text, out);
    }
}

static void write_text(FILE *out, double x, double y, const char *attributes, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    write_escaped(out, text);
    fputs("</text>\n", out);
}

static double channel(double hue, double saturation, double lightness, double shift)
{
    double k = fmod(shift + hue / 30, 12);
    return lightness - saturation * fmin(lightness, 1 - lightness) * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
}

// The first colours differ also for most colour-blind eyes (after Okabe and Ito); further ones turn by the golden angle.
static const char *colour(uint32_t group, char *text)
{
    static const char *const first[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7a5195", "#8c8c1f"};
    if (group < sizeof first / sizeof *first) return first[group];
    double hue = fmod(137.508 * group, 360), lightness = group % 2 ? 0.42 : 0.56;
    const double shifts[] = {0, 8, 4};
    text[0] = '#';
    for (int i = 0; i < 3; i++) snprintf(text + 1 + 2 * i, 3, "%02x", (unsigned)lround(255 * channel(hue, 0.62, lightness, shifts[i])) & 255u);
    return text;
}

static void format_count(uint64_t n, char *text, size_t size)
{
    char plain[24];
    size_t length = (size_t)snprintf(plain, sizeof plain, "%" PRIu64, n), at = 0;
    for (size_t i = 0; i < length && at + 2 < size; i++) {
        if (i && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = 0;
}

// --- Axes ---

// 1, 2 or 5 times a power of ten; about one tick in `spacing` units of the picture.
static double tick_step(const picture *p, double spacing)
{
    double rough = spacing / p->view.scale, power = pow(10, floor(log10(rough))), part = rough / power;
    return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

static void tick_text(double value, double step, char *text, size_t size)
{
    int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
    if (fabs(value) < step / 2) value = 0;     // not "-0"
    if (fabs(value) >= 1e6 || decimals > 5) snprintf(text, size, "%.6g", value);
    else snprintf(text, size, "%.*f", decimals, value);
}

static void draw_tick(const picture *p, double value, double step, bool is_x)
{
    char text[40];
    double x = x_of(p, value), y = y_of(p, value), floor_y = TOP + p->view.height;
    tick_text(value, step, text, sizeof text);
    if (is_x) {
        fprintf(p->out, "<path class=\"g\" d=\"M%.1f %dV%.1f\"/>\n", x, TOP, floor_y);
        write_text(p->out, x, floor_y + 16, "class=\"t\" text-anchor=\"middle\"", text);
    } else {
        fprintf(p->out, "<path class=\"g\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, LEFT + WIDTH);
        write_text(p->out, LEFT - 7, y + 4, "class=\"t\" text-anchor=\"end\"", text);
    }
}

static void draw_axes(const picture *p)
{
    double step = tick_step(p, 90);
    for (double i = ceil(p->view.left / step); i * step <= p->right; i++) draw_tick(p, i * step, step, true);
    step = tick_step(p, 60);
    for (double i = ceil(p->bottom / step); i * step <= p->view.top; i++) draw_tick(p, i * step, step, false);
    double middle = TOP + p->view.height / 2;
    char turned[120];
    write_text(p->out, LEFT + WIDTH / 2, TOP + p->view.height + 40, "class=\"l\" text-anchor=\"middle\"", p->plot->x_label);
    snprintf(turned, sizeof turned, "class=\"l\" text-anchor=\"middle\" transform=\"rotate(-90 16 %.1f)\"", middle);
    write_text(p->out, 16, middle, turned, p->plot->y_label);
}

// --- Points and centers ---

// All spots of a group as one path of dots: a line of no length with round ends. `only` is the colour of all groups, when given.
static void draw_spots(const picture *p, const spot_list *spots, double width, const char *only)
{
    char text[8];
    for (uint32_t i = 0; i < spots->count;) {
        uint16_t group = spots->items[i].group;
        fprintf(p->out, "<path class=\"p\" stroke=\"%s\" stroke-width=\"%.2g\" d=\"", only ? only : colour(group, text), width);
        for (; i < spots->count && spots->items[i].group == group; i++)
            fprintf(p->out, "M%.4g %.4gh0", spots->items[i].x / 10.0, spots->items[i].y / 10.0);
        fputs("\"/>\n", p->out);
    }
}

static void draw_numbered_centers(const picture *p)
{
    char fill[8], number[16];
    for (uint32_t j = 0; j < p->plot->k; j++) {
        double x = x_of(p, p->plot->centers[2 * j]), y = y_of(p, p->plot->centers[2 * j + 1]);
        if (!isfinite(x) || !isfinite(y)) continue;
        snprintf(number, sizeof number, "%" PRIu32, j);
        fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"11\" fill=\"%s\" stroke=\"#fff\" stroke-width=\"2.5\"/>\n", x, y, colour(j, fill));
        write_text(p->out, x, y + 4.2, "class=\"c\" text-anchor=\"middle\"", number);
    }
}

static void draw_legend(const picture *p)
{
    char fill[8], count[32], line[64];
    double x = LEFT + WIDTH + 24;
    write_text(p->out, x - 8, TOP + 10, "class=\"l\"", "cluster: points");
    for (uint32_t j = 0; j < p->plot->k; j++) {
        double y = TOP + 34 + fmin(26, (p->view.height - 40) / p->plot->k) * j;
        format_count(p->plot->sizes[j], count, sizeof count);
        snprintf(line, sizeof line, "%" PRIu32 ": %s", j, count);
        fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", x, y, colour(j, fill));
        write_text(p->out, x + 13, y + 4, "class=\"t\"", line);
    }
}

static void draw_frame(const picture *p)
{
    int width = LEFT + WIDTH + (p->numbered ? LEGEND : RIGHT), height = TOP + (int)p->view.height + BOTTOM;
    fprintf(p->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" %s>\n", width, height, width, height, font);
    fputs("<style>.t{font-size:12px;fill:#555}.l{font-size:13px;fill:#333}.h{font-size:20px;font-weight:600;fill:#222}.s{font-size:13px;fill:#666}"
          ".c{font-size:12px;font-weight:700;fill:#fff}.g{stroke:#e4e4e4;fill:none}.p{stroke-linecap:round;fill:none}</style>\n", p->out);
    fprintf(p->out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height);
    fputs("<title>", p->out);
    write_escaped(p->out, p->plot->title);
    fputs("</title>\n", p->out);
    write_text(p->out, LEFT, 30, "class=\"h\"", p->plot->title);
    write_text(p->out, LEFT, 51, "class=\"s\"", p->plot->subtitle);
}

static void draw(const picture *p, const spot_list *spots, const spot_list *centers)
{
    draw_frame(p);
    draw_axes(p);
    fprintf(p->out, "<g transform=\"translate(%d %d)\">\n", LEFT, TOP);
    draw_spots(p, spots, spots->count < 2000 ? 4.5 : spots->count < 15000 ? 3 : 2, NULL);
    if (!p->numbered) draw_spots(p, centers, 4, "#111");
    fputs("</g>\n", p->out);
    fprintf(p->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%.0f\" fill=\"none\" stroke=\"#999\"/>\n", LEFT, TOP, WIDTH, p->view.height);
    if (p->numbered) {
        draw_numbered_centers(p);
        draw_legend(p);
    }
    fputs("</svg>\n", p->out);
}

static hdst_status fail(hdst_error *error, hdst_status code, const char *path)
{
    *error = (hdst_error)HDST_ERROR_INIT;
    error->code = code;
    if (code == HDST_E_MEMORY) snprintf(error->message, sizeof error->message, "out of memory: a picture");
    else snprintf(error->message, sizeof error->message, "cannot write '%.300s': %s", path, strerror(errno));
    return code;
}

static hdst_status write_file(const char *path, picture *p, const spot_list *spots, const spot_list *centers, hdst_error *error)
{
    p->out = fopen(path, "w");
    if (!p->out) return fail(error, HDST_E_IO, path);
    draw(p, spots, centers);
    bool failed = fflush(p->out) != 0 || ferror(p->out);
    hdst_status status = failed ? fail(error, HDST_E_IO, path) : HDST_OK;
    if (fclose(p->out) != 0 && !failed) status = fail(error, HDST_E_IO, path);
    return status;
}

hdst_status svg_write(const char *path, const svg_plot *plot, hdst_error *error)
{
    picture p = {.plot = plot, .numbered = plot->k <= MOST_NUMBERED};
    fit(&p);
    spot_list spots = spots_select(&p.view, plot->points, plot->cluster, plot->count, plot->k < COLOURS ? plot->k : COLOURS, MOST_SPOTS);
    spot_list centers = spots_select(&p.view, plot->centers, NULL, plot->k, 1, MOST_CENTERS);
    hdst_status status = spots.items && centers.items ? write_file(path, &p, &spots, &centers, error) : fail(error, HDST_E_MEMORY, path);
    free(spots.items);
    free(centers.items);
    return status;
}
