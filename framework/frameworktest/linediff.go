package frameworktest

import "strings"

// lineDiff shows how two texts differ, line by line: lines of want alone
// behind a minus, of got alone behind a plus, those between behind blanks
// near a difference and left out elsewhere. Empty if the texts are equal.
func lineDiff(want, got string) string {
	if want == got {
		return ""
	}
	lines := mergeLines(strings.Split(strings.TrimSuffix(want, "\n"), "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n"))
	near := nearDifference(lines)
	var out strings.Builder
	for i, line := range lines {
		switch {
		case near[i]:
			out.WriteString(line + "\n")
		case i > 0 && near[i-1]:
			out.WriteString("  ...\n")
		}
	}
	return out.String()
}

// mergeLines aligns two lists by their longest common subsequence.
func mergeLines(want, got []string) []string {
	common := commonLengths(want, got)
	var lines []string
	i, j := 0, 0
	for i < len(want) && j < len(got) {
		switch {
		case want[i] == got[j]:
			lines = append(lines, "  "+want[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+want[i])
			i++
		default:
			lines = append(lines, "+ "+got[j])
			j++
		}
	}
	for ; i < len(want); i++ {
		lines = append(lines, "- "+want[i])
	}
	for ; j < len(got); j++ {
		lines = append(lines, "+ "+got[j])
	}
	return lines
}

// commonLengths is how long the longest common subsequence of the rest of two
// lists is, from each pair of places on.
func commonLengths(want, got []string) [][]int {
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	return common
}

// nearDifference marks the differing lines and three on either side.
func nearDifference(lines []string) []bool {
	const context = 3
	near := make([]bool, len(lines))
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		for k := max(0, i-context); k <= min(len(lines)-1, i+context); k++ {
			near[k] = true
		}
	}
	return near
}
